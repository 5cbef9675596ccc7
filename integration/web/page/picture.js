'use strict';
// picture draws a key frame as the report does: cut to the bowler, with the
// skeleton's lines on it. Without lines the whole frame is shown.
function picture(url, title, limbs, width) {
  const img = new Image();
  img.alt = title; img.src = url;
  if (!limbs || !limbs.length) return img;
  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img'); canvas.setAttribute('aria-label', title);
  img.addEventListener('load', () => draw(canvas, img, limbs, img.naturalWidth / (width || img.naturalWidth)));
  img.addEventListener('error', () => canvas.replaceWith(img)); // its text stands in for it
  return canvas;
}

const shape = 4 / 5; // width by height

// frame is the part of the picture to show: the skeleton with room around it.
function frame(limbs, scale, img) {
  const xs = limbs.flatMap((l) => [l.x1, l.x2]), ys = limbs.flatMap((l) => [l.y1, l.y2]);
  const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)].map((v) => v * scale);
  let h = (box[3] - box[1]) * 1.45;
  h = Math.min(Math.max(h, (box[2] - box[0]) * 1.3 / shape, 40), img.naturalHeight, img.naturalWidth / shape);
  const w = h * shape, inside = (v, max) => Math.min(Math.max(v, 0), max);
  return { w, h, x: inside((box[0] + box[2] - w) / 2, img.naturalWidth - w), y: inside((box[1] + box[3]) / 2 - h * 0.52, img.naturalHeight - h) };
}

// Each part's line and its outline, as in the PDF.
const colours = { body: ['#ffffff', '#16211b'], front_leg: ['#0072b2', '#ffffff'], bowling_arm: ['#d55e00', '#ffffff'] };

function draw(canvas, img, limbs, scale) {
  const f = frame(limbs, scale, img), k = 720 / f.h;
  canvas.width = Math.round(f.w * k); canvas.height = Math.round(f.h * k);
  const c = canvas.getContext('2d');
  c.imageSmoothingQuality = 'high';
  c.drawImage(img, f.x, f.y, f.w, f.h, 0, 0, canvas.width, canvas.height);
  c.lineCap = 'round';
  for (const [halo, line] of [[true, 11], [false, 6]]) {
    for (const l of limbs) {
      if (halo && !l.sure) continue;
      c.strokeStyle = (colours[l.part] || colours.body)[halo ? 1 : 0];
      c.lineWidth = l.sure ? line : 4; c.setLineDash(l.sure ? [] : [1, 10]);
      c.beginPath();
      c.moveTo((l.x1 * scale - f.x) * k, (l.y1 * scale - f.y) * k);
      c.lineTo((l.x2 * scale - f.x) * k, (l.y2 * scale - f.y) * k);
      c.stroke();
    }
  }
  canvas.className = 'drawn';
}
