package kinds

// New makes a table of the kinds that an API server serves, in the order in which
// it lists them, each with all its versions.
func New(all []Kind) *Table { return &Table{all, len(all)} }
