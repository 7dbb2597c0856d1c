package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// items are what the shop sells.
var items = []string{"Lamp", "Chair", "Table"}

// handler serves the page, and takes orders at POST /orders.
func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("POST /orders", s.take)
	return http.NewCrossOriginProtection().Handler(mux)
}

func (s *shop) show(w http.ResponseWriter, r *http.Request) {
	orders, pending, err := s.database.latest(r.Context(), 20)
	if err != nil {
		s.fail(w, "the orders cannot be read", err)
		return
	}
	view := struct {
		Items   []string
		Orders  []orderView
		Pending int
		Waiting bool // for a confirmation: the page looks again by itself
	}{Items: items, Pending: pending}
	for _, o := range orders {
		v := orderView{order: o}
		if o.Confirmed.IsZero() {
			view.Waiting = true
		} else {
			v.After = o.Confirmed.Sub(o.Placed).Round(time.Millisecond).String()
		}
		view.Orders = append(view.Orders, v)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := page.Execute(w, view); err != nil {
		fmt.Fprintln(s.out, "the page was not sent:", err)
	}
}

type orderView struct {
	order
	After string // how long the confirmation took; "" while there is none
}

func (s *shop) take(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	o := order{Customer: strings.TrimSpace(r.PostFormValue("customer")), Item: r.PostFormValue("item"), Placed: time.Now()}
	if problem := o.check(); problem != "" {
		http.Error(w, problem, http.StatusUnprocessableEntity)
		return
	}
	number, err := s.place(r.Context(), o, r.PostFormValue("unplug") != "")
	if err != nil {
		s.fail(w, "the order was not placed", err)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/#order-%d", number), http.StatusSeeOther)
}

// check is what is wrong with an order, for the customer; "" is nothing.
func (o order) check() string {
	if n := len(o.Customer); n == 0 || n > 100 || !utf8.ValidString(o.Customer) || strings.ContainsRune(o.Customer, 0) {
		return "Who are you? A name has 1 to 100 bytes."
	}
	for _, item := range items {
		if o.Item == item {
			return ""
		}
	}
	return "We sell " + strings.Join(items, ", ") + "."
}

// fail tells the customer that something failed, and the shop what.
func (s *shop) fail(w http.ResponseWriter, what string, err error) {
	fmt.Fprintf(s.out, "%s: %v\n", what, err)
	http.Error(w, "Sorry, "+what+". Please try again.", http.StatusInternalServerError)
}
