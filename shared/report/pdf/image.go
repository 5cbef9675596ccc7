package pdf

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image/color"
	"image/jpeg"
)

// Image is a picture in the document.
type Image struct {
	W, H  int
	ref   ref
	index int
}

// JPEG adds a baseline or progressive JPEG as it is; the same bytes are stored
// once. The caller sees to it that the file carries no metadata.
func (d *Doc) JPEG(data []byte) (*Image, error) {
	key := sha256.Sum256(data)
	if im, ok := d.images[key]; ok {
		return im, nil
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("pdf: read a JPEG's header: %w", err)
	}
	space := "/DeviceRGB"
	switch c.ColorModel {
	case color.GrayModel:
		space = "/DeviceGray"
	case color.CMYKModel:
		return nil, fmt.Errorf("pdf: CMYK JPEGs are not supported")
	}
	im := &Image{W: c.Width, H: c.Height, index: len(d.images)}
	im.ref = d.obj.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent 8 /Filter /DCTDecode",
		c.Width, c.Height, space), data)
	d.images[key] = im
	return im, nil
}
