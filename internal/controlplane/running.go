package controlplane

// RunningNames returns the names of running control planes, for completion.
func RunningNames(getenv func(string) string) []string {
	home, err := Open(getenv)
	if err != nil {
		return nil
	}
	planes, err := home.List()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range planes {
		if s.Phase == Running {
			names = append(names, s.Name)
		}
	}
	return names
}
