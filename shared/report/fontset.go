package report

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/go-text/typesetting/language"

	"fastbowlinglab/shared/report/typeset"
)

// Families by what they are for.
const (
	baseFamily  = "NotoSans"
	emojiFamily = "NotoEmoji"
)

// families names the family that is first asked for a script.
var families = map[language.Script]string{
	language.Arabic:     "NotoNaskhArabic", // Urdu, Pashto, Persian and Sindhi too
	language.Bengali:    "NotoSansBengali",
	language.Devanagari: "NotoSansDevanagari",
	language.Gujarati:   "NotoSansGujarati",
	language.Gurmukhi:   "NotoSansGurmukhi",
	language.Hangul:     "NotoSansKR",
	language.Hebrew:     "NotoSansHebrew",
	language.Hiragana:   "NotoSansJP",
	language.Kannada:    "NotoSansKannada",
	language.Katakana:   "NotoSansJP",
	language.Malayalam:  "NotoSansMalayalam",
	language.Oriya:      "NotoSansOriya",
	language.Sinhala:    "NotoSansSinhala",
	language.Tamil:      "NotoSansTamil",
	language.Telugu:     "NotoSansTelugu",
	language.Thai:       "NotoSansThai",
}

// scales evens out how large families look beside the base font.
var scales = map[string]float64{"NotoNaskhArabic": 1.18}

// han lists the families of ideographs in the order of a locale's preference.
var han = [...][]string{
	typeset.Chinese:  {"NotoSansSC", "NotoSansJP", "NotoSansKR"},
	typeset.Japanese: {"NotoSansJP", "NotoSansSC", "NotoSansKR"},
	typeset.Korean:   {"NotoSansKR", "NotoSansJP", "NotoSansSC"},
}

// maxFontBytes bounds one font file.
const maxFontBytes = 32 << 20

// fontSet loads fonts from a folder as they are needed and keeps them. It is
// not safe for concurrent use; Reporter guards it.
type fontSet struct {
	dir   string
	faces map[string]*typeset.Face // by file; nil when it is not there
}

// openFonts loads the base fonts, without which nothing can be written.
func openFonts(dir string) (*fontSet, error) {
	s := &fontSet{dir: dir, faces: map[string]*typeset.Face{}}
	for _, w := range []typeset.Weight{typeset.Regular, typeset.SemiBold} {
		f, err := s.face(baseFamily, w)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, fmt.Errorf("open fonts: %s is not in %s", baseFamily, dir)
		}
	}
	return s, nil
}

// Find implements typeset.Fonts.
func (s *fontSet) Find(q typeset.Query) (*typeset.Face, error) {
	var order []string
	if q.Emoji {
		order = append(order, emojiFamily)
	}
	switch f, ok := families[q.Script]; {
	case q.Script == language.Han:
		order = append(order, han[q.CJK]...)
	case ok:
		order = append(order, f)
	}
	order = append(order, baseFamily, emojiFamily)
	order = append(order, han[q.CJK]...) // they hold many symbols
	for _, name := range order {
		f, err := s.face(name, q.Weight)
		if err != nil {
			return nil, err
		}
		if f != nil && hasAll(f, q.Text) {
			return f, nil
		}
	}
	return nil, nil
}

func hasAll(f *typeset.Face, rs []rune) bool {
	for _, r := range rs {
		if !f.Has(r) {
			return false
		}
	}
	return true
}

// face gives the family's face of that weight, or of the one it has; nil when
// the family is not installed.
func (s *fontSet) face(family string, w typeset.Weight) (*typeset.Face, error) {
	var pick *Font
	for i := range Fonts {
		if f := &Fonts[i]; f.Family == family && (pick == nil || f.Weight == w) {
			pick = f
		}
	}
	if pick == nil {
		return nil, nil
	}
	file := path.Base(pick.Path)
	if f, ok := s.faces[file]; ok {
		return f, nil
	}
	data, err := readFont(filepath.Join(s.dir, file), pick.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		s.faces[file] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := typeset.Parse(fmt.Sprintf("%s-%s", family, [...]string{"Regular", "SemiBold"}[pick.Weight]), data)
	if err != nil {
		return nil, err
	}
	if k, ok := scales[family]; ok {
		f.Scale = k
	}
	s.faces[file] = f
	return f, nil
}

// readFont reads a font file and checks that it is the pinned one.
func readFont(file, sum string) ([]byte, error) {
	st, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read font: %w", err)
	}
	if st.Size() > maxFontBytes {
		return nil, fmt.Errorf("read font %s: %d bytes is more than %d", filepath.Base(file), st.Size(), maxFontBytes)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read font: %w", err)
	}
	if h := sha256.Sum256(data); hex.EncodeToString(h[:]) != sum {
		return nil, fmt.Errorf("read font %s: its hash is not the pinned one", filepath.Base(file))
	}
	return data, nil
}

// InstallFonts copies the fonts and their licences out of the folder of the npm
// packages (node_modules/@expo-google-fonts) into one flat folder, checking
// every hash. Optional fonts that are not installed are left out; their paths
// are returned.
func InstallFonts(packages, dir string) (missing []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("install fonts: %w", err)
	}
	for _, f := range Fonts {
		pkg := filepath.Join(packages, f.Package)
		data, err := readFont(filepath.Join(pkg, f.Path), f.SHA256)
		if f.Optional && errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, f.Package+"/"+f.Path)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("install fonts: %w", err)
		}
		licence, err := os.ReadFile(filepath.Join(pkg, "LICENSE_FONT"))
		if err != nil {
			return nil, fmt.Errorf("install fonts: the licence of %s: %w", f.Package, err)
		}
		for name, b := range map[string][]byte{path.Base(f.Path): data, "OFL-" + f.Package + ".txt": licence} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				return nil, fmt.Errorf("install fonts: %w", err)
			}
		}
	}
	return missing, nil
}
