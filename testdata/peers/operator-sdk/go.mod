// The sources of operator-sdk, of which tests read its example projects and its templates. Nothing
// compiles them, so their own requirements are left out.
module github.com/operon-dev/operon/testdata/peers/operator-sdk

go 1.26.3

require github.com/operator-framework/operator-sdk v1.42.3
