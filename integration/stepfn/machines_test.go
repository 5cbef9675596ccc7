package stepfn

import (
	"strings"
	"testing"
	"testing/synctest"
)

func TestUpdateStateMachine(t *testing.T) {
	// https://docs.aws.amazon.com/step-functions/latest/apireference/API_UpdateStateMachine.html
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		waiting := `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":60,"Next":"Old"},"Old":{"Type":"Succeed"}}}`
		m := create(t, e, waiting)
		open := start(t, e, m, "open", `{}`)
		synctest.Wait()
		newer := `{"StartAt":"New","States":{"New":{"Type":"Succeed"}}}`
		u, err := e.UpdateStateMachine(UpdateStateMachineInput{StateMachineARN: m, Definition: newer})
		if err != nil || u.RevisionID == "" {
			t.Fatal(u, err)
		}
		later := start(t, e, m, "later", `{}`)
		finish(t, e, open)
		finish(t, e, later)
		if v := visits(history(t, e, open)); v != "A Old" {
			t.Errorf("the open run went %s", v)
		}
		if v := visits(history(t, e, later)); v != "New" {
			t.Errorf("the later run went %s", v)
		}
		d, err := e.DescribeStateMachine(DescribeStateMachineInput{m})
		if err != nil || d.Definition != newer || d.RevisionID != u.RevisionID || d.RoleARN != testRole {
			t.Errorf("%+v %v", d, err)
		}
		f, err := e.DescribeStateMachineForExecution(DescribeStateMachineForExecutionInput{open})
		if err != nil || f.Definition != waiting || f.RevisionID != "" {
			t.Errorf("%+v %v", f, err)
		}
		for _, bad := range []struct {
			in   UpdateStateMachineInput
			want string
		}{
			{UpdateStateMachineInput{StateMachineARN: m}, CodeMissingRequiredParameter},
			{UpdateStateMachineInput{StateMachineARN: m + "x", Definition: newer}, CodeStateMachineDoesNotExist},
			{UpdateStateMachineInput{StateMachineARN: m, Definition: `{}`}, CodeInvalidDefinition},
		} {
			if _, err := e.UpdateStateMachine(bad.in); code(err) != bad.want {
				t.Errorf("%+v: %v", bad.in, err)
			}
		}
	})
}

func TestCreateStateMachine(t *testing.T) {
	e := newEngine(t, Options{})
	in := CreateStateMachineInput{Name: "m", Definition: waitHour, RoleARN: testRole}
	first, err := e.CreateStateMachine(in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.CreateStateMachine(in); err != nil || again != first {
		t.Errorf("the same again: %v %v", again, err)
	}
	change := func(f func(*CreateStateMachineInput)) CreateStateMachineInput {
		out := in
		f(&out)
		return out
	}
	for _, tc := range []struct {
		in   CreateStateMachineInput
		want string
	}{
		{change(func(i *CreateStateMachineInput) { i.RoleARN = "arn:aws:iam::1:role/other" }), CodeStateMachineAlreadyExists},
		{change(func(i *CreateStateMachineInput) { i.Name = "a b" }), CodeInvalidName},
		{change(func(i *CreateStateMachineInput) { i.Name = "" }), CodeInvalidName},
		{change(func(i *CreateStateMachineInput) {
			i.Name, i.Definition = "n", `{"StartAt":"A","States":{"A":{"Type":"Nap"}}}`
		}), CodeInvalidDefinition},
		{change(func(i *CreateStateMachineInput) { i.Name, i.Type = "n", "EXPRESS" }), CodeTypeNotSupported},
		{change(func(i *CreateStateMachineInput) { i.Name, i.RoleARN = "n", "" }), CodeInvalidArn},
		{change(func(i *CreateStateMachineInput) { i.Name, i.Publish = "n", true }), CodeValidation},
	} {
		if _, err := e.CreateStateMachine(tc.in); code(err) != tc.want {
			t.Errorf("%+v: %v, want %s", tc.in, err, tc.want)
		}
	}
	_, err = e.CreateStateMachine(change(func(i *CreateStateMachineInput) {
		i.Name, i.Definition = "n", `{"StartAt":"A","States":{"A":{"Type":"Nap"}}}`
	}))
	if !strings.Contains(err.Error(), `$.States.A.Type: "Nap" is no type of state`) {
		t.Errorf("the field is not named: %v", err)
	}
}
