// Package article finds the indefinite article of a kind. No maintained library knows how names in
// PascalCase and acronyms are pronounced.
package article

import (
	"slices"
	"strings"
)

// Of returns "a" or "an", which depends on how the kind is pronounced: "an S3", "a User", "an Hour",
// "an HTTPRoute".
func Of(kind string) string {
	if startsWithVowelSound(kind) {
		return "an"
	}
	return "a"
}

// spokenWords are acronyms that are pronounced as words. The name of their first letter
// starts with a vowel sound ("em", "en", "ar", "es").
var spokenWords = []string{
	"FAQ", "FIFO", "HAL", "LAMP", "LAN", "LIFO", "LUN", "MAC", "NAS", "NASA", "NAT", "NATO", "NUMA", "RAID", "RAM",
	"REST", "ROM", "SAML", "SAN", "SCADA", "SIEM", "SIM", "SOAP", "SOC", "SPA",
}

// Words and prefixes with an unexpected first sound.
var (
	youWords    = []string{"Udp", "Ufo", "Ui", "Uid", "Ups", "Uri", "Url", "Usb", "Uuid", "One", "Once"} // they sound like "you" or "one"
	youPrefixes = []string{"eu", "ewe", "ubiq", "uku", "ura", "uri", "uro", "usa", "use", "usu", "uten", "uter", "util", "utop"}
	notUni      = []string{"unid", "unim", "unin"} // unidentified, unimportant, uninstall
	silentH     = []string{"heir", "honest", "honor", "honour", "hour"}
)

func startsWithVowelSound(kind string) bool {
	word := firstWord(kind)
	letters := strings.TrimRight(word, "0123456789")
	if letters == "" {
		return false
	}
	if spelled(letters) {
		return strings.ContainsAny(letters[:1], "AEFHILMNORSX") && !slices.Contains(spokenWords, letters)
	}
	lower := strings.ToLower(kind)
	begins := func(prefixes []string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
	}
	switch {
	case begins(silentH):
		return true
	case slices.Contains(youWords, word) || begins(youPrefixes):
		return false
	case strings.HasPrefix(lower, "uni"):
		return begins(notUni) && !strings.HasPrefix(lower, "unidir")
	}
	return strings.ContainsAny(lower[:1], "aeiou")
}

// firstWord returns the first word of a name in PascalCase: "XML" of "XMLDoc", "S3" of
// "S3Bucket", "Frigate" of "FrigateGroup".
func firstWord(kind string) string {
	upper := func(i int) bool { return i < len(kind) && 'A' <= kind[i] && kind[i] <= 'Z' }
	lower := func(i int) bool { return i < len(kind) && 'a' <= kind[i] && kind[i] <= 'z' }
	for i := 1; i < len(kind); i++ {
		switch {
		case upper(i) && !upper(i-1):
			return kind[:i]
		case upper(i) && lower(i+1):
			return kind[:i]
		}
	}
	return kind
}

// spelled reports whether a word is pronounced letter by letter: a word in capitals, with a
// digit as its second character ("U2f"), or without a vowel ("Sql", "Http").
func spelled(word string) bool {
	if word == strings.ToUpper(word) || '0' <= word[1] && word[1] <= '9' {
		return true
	}
	return !strings.ContainsAny(strings.ToLower(word), "aeiouy")
}
