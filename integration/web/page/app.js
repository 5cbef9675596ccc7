'use strict';
// The page as an app would use the API: every POST is repeated with the same key
// until there is an answer, and what the server says is shown as text, never as
// HTML.
const $ = (id) => document.getElementById(id);
const show = (id, on) => { $(id).hidden = !on; };
const sentence = (s) => (s ? s[0].toUpperCase() + s.slice(1) : '');
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
let api = ''; // the API's base address
let key = '';
let asked = address.get('analysis') || ''; // the analysis that the page's address names, as a mail's link does

function trouble(text) { $('trouble').textContent = text || ''; show('trouble', !!text); }

class Problem extends Error {
  constructor(status, body) { super(body.detail || body.title || body.message || 'The service answered ' + status); this.status = status; this.code = body.code; }
}

// call repeats a request that got no answer, or one that says: later. A token that
// the API no longer takes is replaced once, whatever this device's clock says of it.
async function call(method, path, { body, headers = {} } = {}) {
  for (let attempt = 1, stale; ; attempt++) {
    let answer, token;
    try {
      token = await signIn.token(stale);
      answer = await fetch(api + path, { method, body: body && JSON.stringify(body), cache: 'no-store',
        headers: { Authorization: 'Bearer ' + token, ...(body && { 'Content-Type': 'application/json' }), ...headers } });
    } catch (lost) {
      if (lost instanceof SignedOut) throw lost;
      if (attempt >= 5) throw lost instanceof Unreachable ? lost : new Unreachable('The service cannot be reached. Please try again in a minute.');
      await wait(300 * 2 ** attempt); continue;
    }
    if (answer.status === 401) {
      if (!stale) { stale = token; continue; }
      signIn.forget();
      throw new SignedOut('Your sign-in has ended. Please sign in again.');
    }
    if (answer.status >= 500 && attempt < 5) { await wait(300 * 2 ** attempt); continue; }
    if (answer.status === 304) return { status: 304 };
    const data = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Problem(answer.status, data);
    return { status: answer.status, tag: answer.headers.get('ETag'), data };
  }
}

// upload sends a clip with its form; a lost one is sent again to the same key.
function upload(form, file, progress) {
  return new Promise((done, fail) => {
    const body = new FormData();
    for (const [k, v] of Object.entries(form.fields)) body.append(k, v);
    body.append('file', file);
    const x = new XMLHttpRequest();
    x.open('POST', form.url);
    x.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    x.onload = () => (x.status < 300 ? done() : fail(new Error('The upload was refused (' + x.status + ').')));
    x.onerror = () => fail(new Error('The upload was cut off.'));
    x.send(body);
  });
}

function step(now) {
  let reached = false;
  for (const li of document.querySelectorAll('#steps li')) {
    const is = li.dataset.step === now;
    li.className = is ? 'now' : reached ? '' : 'done';
    reached = reached || is;
  }
}

async function balance() {
  const { data } = await call('GET', '/v1/credits?limit=1');
  $('who').textContent = data.balance + (data.balance === 1 ? ' credit' : ' credits');
}

// start reads what the page is told of its deployment, and goes on where a sign-in,
// or the page before a reload, left off.
async function start() {
  let config;
  try { config = await (await fetch('config.json', { cache: 'no-store' })).json(); } catch {
    throw new Error('This page did not come whole. Please load it again.');
  }
  signIn.use(config);
  api = config.api;
  if (location.origin !== new URL(config.app).origin) { // signing in comes back to that one alone
    location.replace(config.app + (asked ? '?' + new URLSearchParams({ analysis: asked }) : ''));
    return;
  }
  signIn.whenLeft(() => signedOut('You have signed out in another tab.'));
  const back = await signIn.back();
  if (back.analysis) { asked = back.analysis; toAnalysis(asked); }
  if (!back.done && !signIn.resumable()) { signedOut(back.trouble); return; }
  try { await enter(); } catch (e) { signedOut(e.message); }
}

async function enter() {
  await balance();
  trouble(); show('sign-in', false); show('leave', true);
  if (asked) await look(asked); else show('submit', true);
}

// signedOut shows the way in, and why it is shown again.
function signedOut(why) {
  for (const id of ['submit', 'run', 'report', 'leave']) show(id, false);
  $('who').textContent = 'Not signed in';
  $('sign-in-text').textContent = asked ? 'Sign in to see the analysis ' + asked + '.' : 'Sign in to send a clip, or to see your report.';
  $('enter').disabled = false; show('sign-in', true);
  trouble(why);
}

const failed = (e) => (e instanceof SignedOut ? signedOut(e.message) : trouble(e.message));

// look shows an analysis that was made before.
async function look(id) {
  show('run', true); show('bar', true); show('refund', false); $('run').className = '';
  try { await follow(id); } catch (e) {
    if (e instanceof SignedOut) throw e;
    show('run', false); show('submit', true);
    trouble(e.status === 404 ? 'You have no analysis ' + id + '.' : e.message);
  }
}

async function send(event) {
  event.preventDefault();
  trouble(); $('send').disabled = true;
  const file = $('clip').files[0];
  key = key || crypto.randomUUID();
  try {
    const child = $('under').checked;
    const { data } = await call('POST', '/v1/analyses', { headers: { 'Idempotency-Key': key }, body: {
      athlete: { name: $('name').value, under_age: child }, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
      consent: $('consent').checked, consent_by: child ? { role: 'parent', name: $('parent').value } : { role: 'self' },
      clips: [{ name: file.name, type: file.type, size_bytes: file.size }] } });
    show('submit', false); show('run', true); step('upload');
    $('run').className = ''; show('bar', true); show('refund', false); $('estimate').textContent = '';
    $('stage').textContent = 'Uploading';
    for (let attempt = 1; data.uploads.length; attempt++) {
      try { await upload(data.uploads[0], file, (part) => { $('bar').value = part; }); break; }
      catch (e) { if (attempt === 4) throw e; await wait(1000 * attempt); }
    }
    await call('POST', '/v1/analyses/' + encodeURIComponent(data.analysis_id) + '/confirm');
    asked = data.analysis_id; toAnalysis(asked); // whatever happens to this page now, it is found again
    await balance();
    await follow(data.analysis_id);
    key = '';
  } catch (e) {
    if (e.code === 'no_credit' || e.status === 422 || e.status === 400) key = ''; // the next try is another request
    failed(e); show('submit', !(e instanceof SignedOut));
  }
  $('send').disabled = false;
}

async function follow(id) {
  const path = '/v1/analyses/' + encodeURIComponent(id);
  for (let tag = '', a; ; await wait(1500)) {
    const answer = await call('GET', path, { headers: tag ? { 'If-None-Match': tag } : {} });
    if (answer.status === 304) continue;
    tag = answer.tag; a = answer.data;
    step(a.status === 'ready' ? 'ready' : a.status === 'queued' ? 'queued' : 'analysing');
    $('stage').textContent = a.message || sentence(a.stage || a.status);
    if (a.progress === null) $('bar').removeAttribute('value'); else $('bar').value = a.progress;
    $('estimate').textContent = a.estimated_end ? 'Ready at about ' + new Date(a.estimated_end).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : '';
    if (['ready', 'rejected', 'failed', 'expired'].includes(a.status)) {
      show('bar', false); show('again', true);
      if (a.status === 'ready') { $('stage').textContent = 'Your report is ready.'; await report(path); return; }
      $('run').className = 'refused';
      $('stage').textContent = a.message || 'The analysis has ended.';
      if (a.refunded) { $('refund').textContent = 'Your credit has been given back.'; show('refund', true); }
      await balance();
      return;
    }
  }
}

async function report(path) {
  const { data } = await call('GET', path + '/report');
  $('pdf').href = data.report_pdf.url;
  const doc = await (await fetch(data.report_json.url)).json();
  const clips = doc.clips || [];
  $('pictures').replaceChildren(...data.pictures.map((p) => {
    const figure = document.createElement('figure'), whole = document.createElement('a'), words = document.createElement('figcaption');
    const clip = clips.find((c) => c.index === p.clip), phase = clip && (clip.phases || []).find((f) => f.name === p.phase);
    words.textContent = sentence(p.phase.replace('_contact', ' contact').replaceAll('_', '-')) + (clips.length > 1 ? ', clip ' + (p.clip + 1) : '') + (phase && phase.at ? ' · ' + phase.at : '');
    whole.href = p.url; whole.target = '_blank'; whole.rel = 'noreferrer';
    whole.append(picture(p.url, words.textContent, phase && phase.limbs, clip && clip.width)); figure.append(whole, words);
    return figure;
  }));
  show('legend', clips.some((c) => (c.phases || []).some((f) => f.limbs && f.limbs.length)));
  const words = (tag, text) => { const e = document.createElement(tag); e.textContent = text || ''; return e; };
  const advice = doc.coaching;
  $('words').replaceChildren(words('p', doc.findings.summary),
    ...doc.findings.items.flatMap((f) => [words('h3', f.title), words('p', f.detail)]),
    ...(advice ? [words('h2', 'What to work on'), words('p', advice.summary),
      ...advice.drills.flatMap((d) => [words('h3', d.title), words('p', d.purpose), words('p', d.steps.join(' ')), words('p', d.dose)]),
      words('p', advice.safety)] : []),
    ...(doc.limits || []).map((l) => words('p', l)),
    words('small', doc.findings.author.written_by || 'Written by ' + doc.findings.author.provider));
  show('report', true);
}

$('enter').addEventListener('click', () => { trouble(); $('enter').disabled = true; signIn.begin(asked).catch((e) => signedOut(e.message)); });
$('leave').addEventListener('click', () => { $('leave').disabled = true; signIn.leave(); });
$('submit').addEventListener('submit', send);
$('under').addEventListener('change', () => {
  show('parent-row', $('under').checked); $('parent').required = $('under').checked;
  $('consent-text').textContent = $('under').checked ? 'As the parent, I agree that this clip is analysed' : 'I agree that this clip is analysed';
});
$('again').addEventListener('click', () => { trouble(); asked = ''; toAnalysis(); for (const id of ['run', 'report', 'again']) show(id, false); $('submit').reset(); show('submit', true); $('bar').value = 0; });
addEventListener('pageshow', (e) => { if (e.persisted) location.reload(); }); // the way back shows nothing of whoever signed out
start().catch((e) => trouble(e.message));
