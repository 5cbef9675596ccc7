// Package ecs is the part of Amazon ECS that the pose fleet uses, with real
// processes for tasks: one cluster, one service with a desired count, tasks
// started by RunTask, and the protection of tasks against scale-in.
//
// What it keeps of ECS, since the system leans on it:
//
//   - The service starts and stops processes until as many run as are wanted. A
//     task that ends is replaced, after a wait that grows while tasks keep dying.
//   - Stopping sends SIGTERM to the task's first process alone and, after the
//     stop timeout, SIGKILL to all of its processes. When the first process
//     ends, so does the rest.
//   - Scale-in never stops a protected task, the newest first of the others.
//   - The desired count survives a restart of the cloud; tasks do not.
//   - RunTask with a client token that was used before gives the same tasks.
//
// What it does not keep: no images, networks, placement, CPU or memory limits,
// load balancers, deployments (forceNewDeployment replaces the tasks one for
// one, without circuit breaker) or IAM. A request that asks for what is not
// here is refused by name.
package ecs
