package chart

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/template"
)

// keyFunctions are the functions of sprig that generate keys, certificates, hashes and random texts.
var keyFunctions = []string{"bcrypt", "derivePassword", "genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert",
	"genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey", "htpasswd", "randAlpha", "randAlphaNum", "randAscii",
	"randBytes", "randNumeric", "uuidv4"}

// useOneKey makes the functions that generate certificates use one private key: an elliptic one, which is
// generated much faster than RSA's.
func useOneKey(available template.FuncMap) {
	private, _ := available["genPrivateKey"].(func(string) string)
	if private == nil {
		return
	}
	key := sync.OnceValue(func() reflect.Value { return reflect.ValueOf(private("ecdsa")) })
	for _, name := range []string{"genCA", "genSelfSignedCert", "genSignedCert"} {
		withKey := reflect.ValueOf(available[name+"WithKey"])
		available[name] = reflect.MakeFunc(reflect.TypeOf(available[name]), func(args []reflect.Value) []reflect.Value {
			return withKey.Call(append(args, key()))
		}).Interface()
	}
	available["genPrivateKey"] = func(kind string) string {
		if kind == "rsa" {
			kind = "ecdsa"
		}
		return private(kind)
	}
}

// reuseKeys replaces the functions that generate keys by ones that remember their results. The types
// of certificates are internal to sprig.
func (re *Renderer) reuseKeys(available template.FuncMap) {
	useOneKey(available)
	if re.keys == nil {
		re.keys = map[string][]reflect.Value{}
	}
	for _, name := range keyFunctions {
		generate := reflect.ValueOf(available[name])
		available[name] = reflect.MakeFunc(generate.Type(), func(args []reflect.Value) []reflect.Value {
			var key strings.Builder
			key.WriteString(name)
			for _, a := range args {
				_, _ = fmt.Fprintf(&key, " %#v", a.Interface())
			}
			if re.keys[key.String()] == nil {
				re.keys[key.String()] = generate.Call(args)
			}
			return re.keys[key.String()]
		}).Interface()
	}
}
