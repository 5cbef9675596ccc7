'use strict';
// The page from signing in to the report. What the server says is shown as text, never
// as HTML; whatever happens to the page, an analysis is found again by its address and
// in the list.
const $ = (id) => document.getElementById(id);
const show = (id, on) => { $(id).hidden = !on; };
let asked = address.get('analysis') || ''; // the analysis that the page's address names, as a mail's link does
let key = ''; // of the submission that has no answer yet
let shown = 0; // counts what is shown: the watch over an earlier thing ends
let clip = null; // the clip that is to be uploaded, while this page has it

function trouble(text, retry) { $('trouble').textContent = text || ''; show('trouble', !!text); show('retry', !!retry); if (text) $('trouble').scrollIntoView({ block: 'nearest' }); }

// land takes the keyboard, and whoever listens, to a part that has just come up.
const land = (id) => $(id).querySelector('h2').focus();

function step(now) {
  let reached = false;
  for (const li of document.querySelectorAll('#steps li')) {
    const is = li.dataset.step === now;
    li.className = is ? 'now' : reached ? '' : 'done';
    if (is) li.setAttribute('aria-current', 'step'); else li.removeAttribute('aria-current');
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
    throw new Told('This page did not come whole. Please load it again.');
  }
  signIn.use(config);
  api = config.api;
  if (location.origin !== new URL(config.app).origin) { // signing in comes back to that one alone
    location.replace(config.app + (asked ? '?' + new URLSearchParams({ analysis: asked }) : ''));
    return;
  }
  $('all').href = location.pathname;
  signIn.whenLeft(() => signedOut('You have signed out in another tab.'));
  const back = await signIn.back();
  if (back.analysis) { asked = back.analysis; toAnalysis(asked); }
  if (!back.done && !signIn.resumable()) { signedOut(back.trouble); return; }
  $('who').textContent = '';
  await enter();
}

async function enter() {
  await balance();
  trouble(); show('sign-in', false); show('leave', true);
  if (asked) await look(asked); else await front();
}

// front shows the form and what was sent before.
async function front() {
  shown++;
  closeReport();
  for (const id of ['run', 'again']) show(id, false);
  age(); show('submit', true);
  await Promise.all([earlier(), mine()]);
}

// signedOut shows the way in, and why it is shown again.
function signedOut(why) {
  shown++; clip = null;
  const within = document.activeElement !== document.body;
  closeReport();
  for (const id of ['submit', 'run', 'earlier', 'me', 'leave']) show(id, false);
  me = null; say('');
  $('list').replaceChildren();
  for (const form of document.forms) form.reset(); // and what was typed
  $('who').textContent = 'Not signed in';
  $('sign-in-text').textContent = asked ? 'Sign in to see the analysis ' + asked + '.' : 'Sign in to send a clip, or to see your report.';
  $('enter').disabled = false; $('leave').disabled = false; show('sign-in', true);
  trouble(why);
  if (within) land('sign-in');
}

const failed = (e, retry) => (e instanceof SignedOut ? signedOut(e.message) : trouble(asText(e), retry));

// look shows an analysis, up to its end. With its clip, it uploads that first.
async function look(id, file) {
  const mine = ++shown;
  const path = '/v1/analyses/' + encodeURIComponent(id);
  clip = file || clip;
  closeReport(); trouble();
  for (const part of ['submit', 'earlier', 'me', 'resume', 'cancel', 'again', 'refund', 'hint']) show(part, false);
  $('run').className = ''; $('estimate').textContent = ''; show('run', true); show('bar', true);
  try {
    if (file) {
      step('upload'); $('bar').value = 0; $('stage').textContent = 'Uploading';
      hint('Keep this page open until the clip is uploaded.');
      balance().catch(() => {}); // one credit is set aside; what follows tells of any trouble
      await deliver(path, file, (part) => { if (mine === shown) $('bar').value = part; });
      clip = null;
    }
  } catch (e) {
    if (mine !== shown) return;
    if (e instanceof SignedOut) { failed(e); return; }
    trouble(asText(e)); // and on: what stands is shown, and the clip may be sent again
  }
  try { await follow(id, path, mine); } catch (e) {
    if (mine !== shown) return;
    if (e.status !== 404) { failed(e, true); return; }
    await front().catch((e) => failed(e));
    trouble('You have no analysis ' + id + '. If it was sent from another account, sign out, and in again with that one.');
  }
}

function hint(text) { $('hint').textContent = text; show('hint', !!text); }

// follow shows an analysis as it goes on, until its end. A connection that is away is
// waited for: the analysis goes on without this page.
async function follow(id, path, mine) {
  for (let tag = '', pause = 1500, away = false, confirmed = false; ; await nap(pause)) {
    let answer;
    if (mine !== shown) return;
    try {
      answer = await call('GET', path, { headers: tag ? { 'If-None-Match': tag } : {} });
      if (!confirmed && answer.data?.status === 'reserved') { // its clip may be there all the same: the page was closed, or an answer lost
        confirmed = true;
        if (await arrived(path)) { tag = ''; pause = 0; continue; }
      }
    } catch (e) {
      if (mine !== shown) return;
      if (!later(e)) throw e;
      away = true; trouble('The service cannot be reached. This page goes on trying; your analysis goes on without it.');
      continue;
    }
    if (mine !== shown) return;
    if (away) { away = false; trouble(); }
    if (answer.status === 304) { pause = Math.min(pause * 1.2, 5000); continue; } // a long wait asks less often
    tag = answer.tag; pause = 1500;
    if (await now(answer.data, path)) return;
  }
}

// now shows how an analysis stands, and tells whether that is its end.
async function now(a, path) {
  if (a.status !== 'reserved' && !$('resume').hidden) trouble(); // another tab has uploaded it
  const several = (a.clips || []).length > 1; // an app sends some at once; this page could only put one in another's place
  const missing = a.status === 'reserved', early = missing || a.status === 'expired';
  step(a.status === 'ready' || a.status === 'queued' ? a.status : early ? 'upload' : 'analysing');
  $('stage').textContent = missing ? (several ? 'Not all clips have been uploaded yet.' : 'The clip has not been uploaded yet.') : a.message || sentence(a.stage || a.status);
  if (a.progress === null || a.progress === undefined) $('bar').removeAttribute('value'); else $('bar').value = a.progress;
  $('estimate').textContent = a.estimated_end ? 'Ready at about ' + new Date(a.estimated_end).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : '';
  const ended = ['ready', 'rejected', 'failed', 'expired'].includes(a.status);
  show('bar', !ended && !missing); show('again', ended);
  show('cancel', missing || a.status === 'queued'); show('resume', missing && !several);
  $('clip-again').required = !clip;
  hint(missing && several ? 'It was begun in an app, with several clips. Finish it there, or cancel it.' : missing ? (clip ? 'Upload ' + clip.name + ' again, or choose another file.' : 'Choose it again, and upload it. One credit is set aside for it; it comes back if you cancel, or within a day.')
    : ended ? '' : 'You may close this page. The analysis goes on, and is here when you come back.');
  if (a.status === 'ready') { $('stage').textContent = 'Your report is ready.'; await report(path); return true; }
  if (!ended) return false;
  $('run').className = 'refused';
  $('stage').textContent = a.message || 'The analysis has ended.';
  if (a.refunded) { $('refund').textContent = 'Your credit has been given back.'; show('refund', true); }
  await balance();
  return true;
}

async function send(event) {
  event.preventDefault();
  trouble(); $('send').disabled = true;
  const file = $('clip').files[0], child = $('under').checked, email = $('email').value.trim();
  const body = { athlete: { name: $('name').value, under_age: child }, ...(email && { email }), time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
    consent: $('consent').checked, consent_by: child ? { role: 'parent', name: $('parent').value } : { role: 'self' },
    clips: [{ name: [...file.name].slice(-200).join(''), type: file.type, size_bytes: file.size }] };
  key = key || crypto.randomUUID();
  const create = () => call('POST', '/v1/analyses', { headers: { 'Idempotency-Key': key }, body });
  try {
    const { data } = await create().catch((e) => {
      if (e.code !== 'idempotency_key_reused') throw e;
      key = crypto.randomUUID(); // the form was changed since a try without an answer: this is another submission
      return create();
    });
    key = ''; asked = data.analysis_id; toAnalysis(asked); // whatever happens to this page now, it is found again
    const over = look(asked, file);
    land('run');
    await over;
  } catch (e) {
    if (!later(e)) key = ''; // the next try is another request
    failed(e);
  } finally { $('send').disabled = false; }
}

// age shows what a child's analysis needs.
function age() {
  const child = $('under').checked;
  show('parent-row', child); $('parent').required = child;
  $('consent-text').textContent = child ? 'As the parent, I agree that this clip is analysed' : 'I agree that this clip is analysed';
}

$('enter').addEventListener('click', () => { trouble(); $('enter').disabled = true; signIn.begin(asked).catch((e) => signedOut(asText(e))); });
$('retry').addEventListener('click', () => location.reload());
$('leave').addEventListener('click', () => { $('leave').disabled = true; signIn.leave(); });
$('submit').addEventListener('submit', send);
$('under').addEventListener('change', age);
$('more').addEventListener('click', () => earlier(next).catch((e) => failed(e)));
$('resume').addEventListener('submit', (e) => { e.preventDefault(); look(asked, $('clip-again').files[0] || clip); land('run'); });
$('cancel').addEventListener('click', async () => {
  $('cancel').disabled = true;
  try { await call('POST', '/v1/analyses/' + encodeURIComponent(asked) + '/cancel'); clip = null; land('run'); look(asked); } catch (e) { failed(e); }
  $('cancel').disabled = false;
});
$('again').addEventListener('click', () => { trouble(); asked = ''; toAnalysis(); $('submit').reset(); front().catch((e) => failed(e)); land('submit'); });
addEventListener('pageshow', (e) => { if (e.persisted) location.reload(); else age(); }); // the way back shows nothing of whoever signed out
addEventListener('DOMContentLoaded', () => start().catch((e) => { if (!(e instanceof SignedOut)) show('sign-in', false); failed(e, true); }));
