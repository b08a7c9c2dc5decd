// gorilla/websocket with its defaults. Conversations come in as lines of standard input, answers go out as lines.
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		answer, err := converse(columns[1], strings.Split(columns[2], ";"), columns[3:])
		if err != nil {
			answer = "error\t" + encoded([]byte(err.Error()))
		}
		fmt.Printf("%s\t%s\n", columns[0], answer)
	}
}

func converse(url string, steps, headers []string) (string, error) {
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	socket, response, err := websocket.DefaultDialer.Dial(url, header)
	if errors.Is(err, websocket.ErrBadHandshake) {
		return fmt.Sprintf("%d\t\t0\t", response.StatusCode), nil
	}
	if err != nil {
		return "", err
	}
	defer socket.Close()
	_ = socket.SetReadDeadline(time.Now().Add(25 * time.Second))
	var messages []string
	for _, step := range steps {
		kind, value, _ := strings.Cut(step, ":")
		switch kind {
		case "close":
			code, reason, _ := strings.Cut(value, ":")
			number, _ := strconv.Atoi(code)
			_ = socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(number, reason))
		case "text", "binary":
			data, _ := base64.StdEncoding.DecodeString(value)
			message, err := echoed(socket, kind, data)
			if err != nil {
				return "", err
			}
			messages = append(messages, message)
		}
	}
	_, _, err = socket.ReadMessage()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		return "", fmt.Errorf("it was not closed: %v", err)
	}
	return fmt.Sprintf("open\t%s\t%d\t%s", strings.Join(messages, ";"), closed.Code, encoded([]byte(closed.Text))), nil
}

func echoed(socket *websocket.Conn, kind string, data []byte) (string, error) {
	as := map[string]int{"text": websocket.TextMessage, "binary": websocket.BinaryMessage}
	if err := socket.WriteMessage(as[kind], data); err != nil {
		return "", err
	}
	got, message, err := socket.ReadMessage()
	if err != nil {
		return "", err
	}
	for name, number := range as {
		if number == got {
			return name + ":" + encoded(message), nil
		}
	}
	return "", fmt.Errorf("a message of kind %d", got)
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
