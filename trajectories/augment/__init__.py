"""What makes a trajectory harder: functions from a trajectory and its notes to a trajectory."""
