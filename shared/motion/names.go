package motion

// Names of the measures. Angles lie in the picture plane and are in degrees.
const (
	ElbowAngle     = "elbow_angle"           // bowling arm, 180 is straight
	ElbowExtension = "elbow_extension"       // straightening from arm horizontal to release
	FrontKneeAngle = "front_knee_angle"      // 180 is straight
	TrunkForward   = "trunk_forward_flexion" // from the vertical towards the batter
	TrunkSide      = "trunk_side_flexion"
	ArmAngle       = "arm_angle"             // shoulder to wrist from the vertical, positive beyond it
	ArmSpeed       = "arm_speed"             // degrees a second at release
	StrideLength   = "delivery_stride"       // body heights
	RunUpSpeed     = "run_up_speed"          // body heights a second
	StrideTime     = "delivery_stride_time"  // back-foot to front-foot contact, seconds
	FrontToRelease = "front_foot_to_release" // seconds
)

// Names of the series, over time.
const (
	SeriesElbow = "elbow_angle"
	SeriesKnee  = "front_knee_angle"
	SeriesTrunk = "trunk_forward_flexion"
	SeriesArm   = "arm_angle"
)

// Units.
const (
	Degrees       = "degrees"
	DegreesSecond = "degrees/s"
	Heights       = "body heights"
	HeightsSecond = "body heights/s"
	Seconds       = "s"
)

// Sources of the definitions in the literature.
const (
	srcElbow  = "Portus et al. (2006), Sports Biomechanics 5: 215-230"
	srcKnee   = "Portus et al. (2004), Sports Biomechanics 3: 263-284; Worthington et al. (2013), J Appl Biomech 29: 78-84"
	srcTrunk  = "Worthington et al. (2013), J Appl Biomech 29: 78-84"
	srcArm    = "Worthington et al. (2013), J Appl Biomech 29: 78-84"
	srcSide   = "Ranson et al. (2008), J Sports Sci 26: 267-276"
	srcStride = "Bartlett et al. (1996), J Sports Sci 14: 403-424; height from Drillis and Contini (1966)"
	srcRunUp  = "Glazier et al. (2000), J Sports Sci 18: 1013-1021; height from Drillis and Contini (1966)"
	srcTimes  = "Bartlett et al. (1996), J Sports Sci 14: 403-424"
)
