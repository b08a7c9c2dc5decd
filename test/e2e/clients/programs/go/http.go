// Go's own HTTP client with its defaults. Requests come in as lines of standard input, answers go out as lines.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		answer, err := send(columns[1], columns[2], columns[3], columns[4:])
		if err != nil {
			answer = "error\t" + encoded([]byte(err.Error()))
		}
		fmt.Printf("%s\t%s\n", columns[0], answer)
	}
}

func send(method, url, body string, headers []string) (string, error) {
	request, err := http.NewRequest(method, url, reader(body))
	if err != nil {
		return "", err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var lines []string
	for name, values := range response.Header {
		for _, value := range values {
			lines = append(lines, name+": "+value)
		}
	}
	return fmt.Sprintf("%d\t%s\t%s", response.StatusCode, encoded([]byte(strings.Join(lines, "\n"))), encoded(data)), nil
}

// reader is nil for no body, of known length for a whole one, and of unknown length for one in chunks.
func reader(body string) io.Reader {
	kind, value, _ := strings.Cut(body, ":")
	length, _ := strconv.ParseInt(value, 10, 64)
	switch kind {
	case "text":
		data, _ := base64.StdEncoding.DecodeString(value)
		return bytes.NewReader(data)
	case "sized":
		return bytes.NewReader(bytes.Repeat([]byte("x"), int(length)))
	case "chunked":
		return io.LimitReader(endless{}, length)
	}
	return nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
