package v2

// Hub marks this version as the hub: all other versions convert to it and from it.
func (*Frigate) Hub() {}
