//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// editsOfRound is the number of edits in a round of growth. Each run is short, so a few
// runs are not representative.
const editsOfRound = 4

// growth compares the cost of an edit of one type with many kinds and with few. The runs
// alternate, because the rows of the tables are measured minutes apart.
func (b *bencher) growth(text *strings.Builder) error {
	few, many := subject{name: "50 kinds", kinds: 50}, subject{name: "600 kinds", kinds: 600}
	if !b.rows.MatchString(few.name+"/"+one) || !b.rows.MatchString(many.name+"/"+one) {
		return nil
	}
	var programs [2]program
	for i, c := range []subject{few, many} {
		p, err := b.newPair(c, false)
		if err != nil {
			return err
		}
		defer p.remove()
		programs[i] = p.us(one)
		if _, err := programs[i].measure(); err != nil {
			return err
		}
	}
	r := &row{}
	for n := range b.rounds * editsOfRound {
		if n%editsOfRound == 0 {
			fmt.Fprintf(os.Stderr, "%s and %s: round %d of %d\n", many.name, few.name, n/editsOfRound+1, b.rounds)
		}
		for _, p := range programs {
			field := fmt.Sprintf("${0}\t// Added%d is one more.\n\tAdded%[1]d *string `json:\"added%[1]d,omitempty\"`\n", n)
			if err := replace(p.dir, specLine, field, 1); err != nil {
				return err
			}
		}
		time.Sleep(settle)
		if err := r.add(programs[0], programs[1]); err != nil {
			return err
		}
	}
	fmt.Fprintf(text, "An edit with 600 kinds takes %.1f times as long as one with 50: %s ms and %s ms, medians of %d alternating runs. The target is at most 1.3 times.\n\n",
		r.ratio(wall), digits(median(r.theirs, wall)), digits(median(r.ours, wall)), len(r.ours))
	return nil
}
