package notice

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// Message is a rendered mail. It follows from the analysis's row alone, so that
// rendering it again gives the same words.
type Message struct {
	Subject string
	Text    string
	HTML    string
}

// subjects hold no text of the athlete's, so that nothing can forge a header.
var subjects = map[analysis.Status]string{
	analysis.Ready:    "Your bowling analysis is ready",
	analysis.Rejected: "We could not analyse your bowling footage",
	analysis.Failed:   "Your bowling analysis was not finished",
	analysis.Expired:  "Your bowling analysis has expired",
}

// linkish finds what a mail program would turn into a link. Anybody may have any
// name written to anybody's address: a mail of ours carries no link but ours.
var linkish = regexp.MustCompile(`(?i)://|www\.|[\pL\pM\pN-]{2,}[.\x{3002}\x{FF0E}\x{FF61}][\pL\pM]{2,}`)

// links are the signs that hold a link together.
var links = strings.NewReplacer(".", ".\u2060", ":", ":\u2060", "@", "@\u2060", "/", "/\u2060", "\u3002", "\u3002\u2060", "\uFF0E", "\uFF0E\u2060", "\uFF61", "\uFF61\u2060")

// shown is a name as a mail shows it: one that would become a link looks the
// same and is none, by word joiners that nobody sees.
func shown(name string) string {
	if linkish.MatchString(name) {
		return links.Replace(name)
	}
	return name
}

// Render writes the mail that tells the athlete of the end. appURL is the app's
// address, "" for none. The report is reached through the app, which asks the API
// for a link when it is wanted: a link to the report itself would be dead, or
// stolen, by the time the mail is read, and one to the API would ask a browser
// for a token that it does not have.
func Render(r analysis.Row, appURL string) (Message, error) {
	subject, ok := subjects[r.Status]
	if !ok {
		return Message{}, fmt.Errorf("no mail tells of status %q", r.Status)
	}
	said := []string{"The report on your bowling action is ready."}
	if r.Status != analysis.Ready {
		said = []string{reason.Code(r.Reason).Sentence(), "Your credit has been given back."}
	}
	return write(r, appURL, subject, said)
}

// closing says who writes, and why to this address.
const closing = "You get this mail because your address was given with the analysis. In the app you choose how you are told."

// write lays a mail out. What is said may hold anything.
func write(r analysis.Row, appURL, subject string, said []string) (Message, error) {
	greeting, greetingHTML := "Hello,", "Hello,"
	if name := shown(r.AthleteName); name != "" {
		// Isolates keep a name written right to left from turning the line around.
		greeting = "Hello \u2068" + name + "\u2069,"
		greetingHTML = "Hello <bdi>" + html.EscapeString(name) + "</bdi>,"
	}
	lead, leadHTML := "Open the "+names.Product+" app to see it.", "Open the "+names.Product+" app to see it."
	if link := names.AppLink(appURL, r.AnalysisID); link != "" {
		l := html.EscapeString(link)
		lead = "See it in the " + names.Product + " app:\r\n" + link
		leadHTML = fmt.Sprintf(`See it in the %s app:<br><a href="%s">%s</a>`, names.Product, l, l)
	}
	ref := "Reference: " + r.AnalysisID

	text := strings.Join([]string{greeting, strings.Join(said, "\r\n"), lead, ref, names.Product + "\r\n" + closing}, "\r\n\r\n") + "\r\n"
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>` + html.EscapeString(subject) + "</title></head><body>")
	for _, p := range slices.Concat([]string{greetingHTML}, escaped(said), []string{leadHTML, html.EscapeString(ref), names.Product + "<br>" + html.EscapeString(closing)}) {
		b.WriteString("<p>" + p + "</p>")
	}
	b.WriteString("</body></html>")
	return Message{subject, text, b.String()}, nil
}

func escaped(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = html.EscapeString(l)
	}
	return out
}
