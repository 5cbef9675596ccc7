package fleet_test

import (
	"testing"

	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/shared/names"
)

func TestTimersAreRelatedAsDeployed(t *testing.T) {
	if fleet.Keeper > fleet.Lease/3 || fleet.Lease+fleet.Skew > fleet.Visibility || fleet.Visibility >= fleet.Heartbeat {
		t.Errorf("keeper %s, lease %s, visibility %s, heartbeat %s", fleet.Keeper, fleet.Lease, fleet.Visibility, fleet.Heartbeat)
	}
	if dead := fleet.Lease + names.ClockSkew + fleet.Keeper; dead >= fleet.Heartbeat {
		t.Errorf("an owner that is lost is held to be alive for %s, and its job comes back after %s", dead, fleet.Heartbeat)
	}
}
