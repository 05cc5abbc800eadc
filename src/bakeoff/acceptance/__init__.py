"""Whether bakeoff can be believed on this machine and device: checks of what stand-ins cannot prove. Starts races."""
