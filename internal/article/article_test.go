package article

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"S3": "an", "NFS": "an", "User": "a", "Unit": "a", "Hour": "an", "AerospikeCluster": "an", "XMLDoc": "an",
		"UPSDevice": "a", "HTTPRoute": "an", "Ufo": "a", "UFO": "a", "Frigate": "a", "Captain": "a", "Umbrella": "an",
		"Uninstall": "an", "UnidentifiedObject": "an", "UnidirectionalLink": "a", "Unicorn": "a", "Universe": "a",
		"Upstream": "an", "Upgrade": "an", "Usage": "a", "Usher": "an", "Utility": "a", "URL": "a", "UrlMap": "a",
		"UUID": "a", "DatabaseUser": "a", "EtcdCluster": "an", "EC2Instance": "an", "EUCluster": "an", "Europe": "a",
		"OneShot": "a", "OnCall": "an", "Onerous": "an", "OCIRepository": "an", "HelmChart": "a", "Honest": "an", "HPA": "an",
		"House": "a", "LDAPServer": "an", "Ldap": "a", "LANSegment": "a", "MACAddress": "a", "MCluster": "an", "RAIDSet": "a",
		"RDSInstance": "an", "SQLInstance": "an", "Sql": "an", "SANVolume": "a", "Http": "an", "XRay": "an", "AClass": "an",
		"UBoot": "a", "ECommerce": "an", "K8sCluster": "a", "I18nBundle": "an", "E2eTest": "an", "U2fKey": "a", "YAMLFile": "a", "Yaml": "a",
		"Web3": "a", "JSONPatch": "a", "FTPServer": "an", "X": "an", "B": "a", "Type": "a", "Int": "an", "WWW": "a", "": "a",
	} {
		if got := Of(kind); got != want {
			t.Errorf("%s %s, want %s", got, kind, want)
		}
	}
}
