'use strict';
// The report: its words as text, its pictures, and links that are signed anew before
// they die, for somebody who reads it for an hour or comes back to it.
const renewal = 5 * 60000; // ms; a link is good for a quarter of an hour
let reading = null; // the report that is shown: its path, its pictures' links, when they were signed

const element = (tag, text) => { const e = document.createElement(tag); e.textContent = text || ''; return e; };

// report shows the newest report. The PDF is there even if the rest cannot be shown.
async function report(path) {
  const { data } = await call('GET', path + '/report');
  reading = { path, links: [] };
  lead(data);
  try { fill(data, await read(data.report_json.url)); } catch (e) {
    $('words').replaceChildren(element('p', (e instanceof Told ? e.message + ' ' : '') + 'All of it is in the PDF.'));
  }
  show('report', true);
}

function fill(data, doc) {
  const clips = doc.clips || [], words = inWords(doc);
  $('pictures').replaceChildren(...data.pictures.map((p) => {
    const figure = document.createElement('figure'), whole = document.createElement('a'), caption = document.createElement('figcaption');
    const clip = clips.find((c) => c.index === p.clip), phase = clip && (clip.phases || []).find((f) => f.name === p.phase);
    caption.textContent = sentence(p.phase.replace('_contact', ' contact').replaceAll('_', '-')) + (clips.length > 1 ? ', clip ' + (p.clip + 1) : '') + (phase && phase.at ? ' · ' + phase.at : '');
    whole.target = '_blank'; whole.rel = 'noreferrer'; whole.href = p.url; reading.links.push(whole);
    whole.append(picture(p.url, caption.textContent, phase && phase.limbs, clip && clip.width)); figure.append(whole, caption);
    return figure;
  }));
  show('legend', clips.some((c) => (c.phases || []).some((f) => f.limbs && f.limbs.length)));
  $('words').replaceChildren(...words);
}

// inWords puts a report into words.
function inWords(doc) {
  const advice = doc.coaching;
  return [element('p', doc.findings.summary),
    ...doc.findings.items.flatMap((f) => [element('h3', f.title), element('p', f.detail)]),
    ...(advice ? [element('h2', 'What to work on'), element('p', advice.summary),
      ...advice.drills.flatMap((d) => [element('h3', d.title), element('p', d.purpose), element('p', d.steps.join(' ')), element('p', d.dose)]),
      element('p', advice.safety)] : []),
    ...(doc.limits || []).map((l) => element('p', l)),
    element('small', doc.findings.author.written_by || 'Written by ' + doc.findings.author.provider)];
}

// read fetches the report's numbers from the bucket.
async function read(url) {
  for (let attempt = 1; ; attempt++) {
    try {
      const got = await fetch(url, { cache: 'no-store' });
      if (got.ok) return await got.json();
    } catch { /* the connection, or half an answer */ }
    if (attempt >= 4) throw new Unreachable('The words and pictures could not be loaded. Check your connection and load this page again.');
    await wait(300 * 2 ** attempt);
  }
}

// lead points the links to where they were signed for.
function lead(data) {
  $('pdf').href = data.report_pdf.url;
  reading.links.forEach((a, i) => { if (data.pictures[i]) a.href = data.pictures[i].url; });
  reading.signed = Date.now();
}

// renewLinks has the shown report's links signed anew when they are old, by whichever clock.
async function renewLinks() {
  if (!reading || document.hidden || Math.abs(Date.now() - reading.signed) < renewal) return;
  const mine = reading;
  mine.signed = Date.now(); // once
  try {
    const { data } = await call('GET', mine.path + '/report');
    if (mine === reading) lead(data);
  } catch (e) {
    mine.signed = 0;
    if (e instanceof SignedOut) failed(e); // the rest is tried again
  }
}

// closeReport leaves nothing of a report in the page: it may be somebody else's next.
function closeReport() {
  reading = null; show('report', false);
  for (const id of ['pictures', 'words']) $(id).replaceChildren();
  $('pdf').removeAttribute('href');
}

document.addEventListener('visibilitychange', renewLinks);
setInterval(renewLinks, 60000);
