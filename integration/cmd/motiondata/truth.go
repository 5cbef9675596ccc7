package main

import (
	"encoding/json"
	"math"
	"os"
)

const tall = 1.85 // metres, of the rendered figure

// angles are those of a frame of the full truth.
type angles struct {
	Elbow3 float64 `json:"bowling_elbow"`
	Knee3  float64 `json:"front_knee"`
	Trunk3 float64 `json:"trunk_forward_lean"`
	Elbow  float64 `json:"bowling_elbow_2d"`
	Knee   float64 `json:"front_knee_2d"`
	Trunk  float64 `json:"trunk_forward_lean_2d"`
	Arm    float64 `json:"arm_angle_2d"`
}

// full is a truth file as the generator writes it.
type full struct {
	Label  string `json:"label"`
	Arm    string `json:"bowling_arm"`
	Travel string `json:"travel"`
	FPS    float64
	N      int `json:"frames"`
	Events map[string]struct {
		Frame int     `json:"frame"`
		PTS   float64 `json:"pts"`
	} `json:"events"`
	Frames []struct {
		PTS    float64               `json:"pts"`
		Solid  map[string][3]float64 `json:"joints_3d"`
		Angles angles                `json:"angles"`
	} `json:"per_frame"`
}

// slimmed is what the tests compare with: the values as seen in the picture and,
// for three of them, in space.
type slimmed struct {
	Clip   string             `json:"clip"`
	Label  string             `json:"label"`
	Arm    string             `json:"bowling_arm,omitempty"`
	Travel string             `json:"travel"`
	FPS    float64            `json:"fps"`
	Varied string             `json:"variant,omitempty"`
	Events map[string]float64 `json:"events,omitempty"`
	Values map[string]float64 `json:"values,omitempty"`
	Solid  map[string]float64 `json:"values_3d,omitempty"`
}

// slim keeps of a truth what the figures need.
func slim(from string, c clip, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var t full
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	s := slimmed{Clip: c.name, Label: t.Label, Arm: t.Arm, Travel: t.Travel, FPS: t.FPS, Varied: c.variant}
	if c.rate > 0 {
		s.FPS = float64(c.rate)
	}
	if t.Label == "bowling" {
		s.values(t)
	}
	b, err = json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(b, '\n'), 0o644)
}

func (s *slimmed) values(t full) {
	s.Events = map[string]float64{}
	for n, e := range t.Events {
		s.Events[n] = e.PTS
	}
	bfc, ffc, rel := t.Events["back_foot_contact"].Frame, t.Events["front_foot_contact"].Frame, t.Events["release"].Frame
	r, f := t.Frames[rel].Angles, t.Frames[ffc].Angles
	s.Solid = map[string]float64{"elbow_angle release": r.Elbow3, "front_knee_angle release": r.Knee3, "trunk_forward_flexion release": r.Trunk3}
	s.Values = map[string]float64{
		"elbow_angle release": r.Elbow, "front_knee_angle release": r.Knee, "trunk_forward_flexion release": r.Trunk,
		"front_knee_angle front_foot_contact": f.Knee, "arm_angle front_foot_contact": f.Arm,
		"delivery_stride_time front_foot_contact": s.Events["front_foot_contact"] - s.Events["back_foot_contact"],
		"front_foot_to_release release":           s.Events["release"] - s.Events["front_foot_contact"],
	}
	least, passed := r.Elbow, false
	for i := rel; i >= bfc && !passed; i-- { // back to where the arm was horizontal
		a := t.Frames[i].Angles
		least, passed = math.Min(least, a.Elbow), a.Arm <= -90
	}
	if passed {
		s.Values["elbow_extension release"] = r.Elbow - least
	}
	dir, front := 1.0, "left"
	if t.Travel == "left" {
		dir = -1
	}
	if t.Arm == "left" {
		front = "right"
	}
	ankle := func(i int, side string) float64 { return t.Frames[i].Solid[side+"_ankle"][0] }
	s.Values["delivery_stride front_foot_contact"] = dir * (ankle(ffc, front) - ankle(bfc, t.Arm)) / tall
	hip := func(i int) float64 { return (t.Frames[i].Solid["left_hip"][0] + t.Frames[i].Solid["right_hip"][0]) / 2 }
	start := max(0, bfc-int(math.Round(t.FPS/2)))
	if dt := t.Frames[bfc].PTS - t.Frames[start].PTS; dt >= 0.25 {
		s.Values["run_up_speed run_up"] = dir * (hip(bfc) - hip(start)) / dt / tall
	}
	for k, v := range s.Values {
		s.Values[k] = math.Round(v*1e4) / 1e4
	}
}
