// Go's net/http as an upstream. Prints its port.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.HandleFunc("/refused", func(w http.ResponseWriter, r *http.Request) {
		// Without reading the body.
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Length", "16")
		w.WriteHeader(413)
		io.WriteString(w, "too large for me")
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d bytes", n)
	})
	panic(http.Serve(listener, nil))
}
