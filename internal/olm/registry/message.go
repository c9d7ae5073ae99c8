package registry

import "google.golang.org/protobuf/encoding/protowire"

// message is an encoded message of protocol buffers.
type message []byte

// newMessage returns a message whose fields 1, 2, ... are texts.
func newMessage(texts ...string) message {
	var m message
	for i, text := range texts {
		m.text(i+1, text)
	}
	return m
}

// text adds a field with a text, unless the text is empty.
func (m *message) text(field int, text string) {
	if text != "" {
		m.message(field, message(text))
	}
}

// message adds a field with a message.
func (m *message) message(field int, value message) {
	*m = protowire.AppendTag(*m, protowire.Number(field), protowire.BytesType)
	*m = protowire.AppendBytes(*m, value)
}

// find returns the text of a field, or "".
func (m message) find(field int) string {
	for rest := m; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return ""
		}
		rest = rest[n:]
		if int(number) == field && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(rest)
			return string(value)
		}
		if n = protowire.ConsumeFieldValue(number, kind, rest); n < 0 {
			return ""
		}
		rest = rest[n:]
	}
	return ""
}
