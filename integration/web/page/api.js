'use strict';
// The API as a page uses it: a request is repeated until there is an answer, with the
// same key, and what is refused becomes a sentence that says what to do.
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const sentence = (s) => (s ? s[0].toUpperCase() + s.slice(1) : '');
let api = ''; // the API's base address

class Problem extends Told {
  constructor(status, body) {
    super(refused(status, body));
    this.status = status; this.code = body.code;
  }
}

// asText puts an error into words. One that nobody wrote for people is this page's fault.
const asText = (e) => (e instanceof Told ? e.message : 'Something went wrong in this page. Please load it again.');

// later tells whether the same request may work in a while.
const later = (e) => e instanceof Unreachable || e.status >= 500 && e.code !== 'intake_closed' || e.status === 429 && !e.code;

const advice = {
  no_credit: 'There is no credit left, so nothing was sent. Buy one where you bought the last, or ask whoever gave you this account.',
  intake_closed: 'New analyses are not taken at the moment. Nothing was charged; please try again later.',
  athlete_erased: 'You have asked for everything about you to be deleted, so this account takes nothing new.',
  analysis_running: 'The analysis has begun, so that is not possible any more.',
  clips_missing: 'The clip has not arrived. Please upload it again.',
};

// fields are the words of the form for the members of a request.
const fields = [[/size_bytes$/, 'The clip is too large. Cut it to the one delivery.'], [/^clips/, 'The clip'], [/^athlete/, 'Your name'], [/^email/, 'The e-mail address'],
  [/^consent_by/, "The parent's name"], [/^consent/, 'Your agreement']];

function refused(status, body) {
  if (advice[body.code]) return advice[body.code];
  if (Array.isArray(body.errors) && body.errors.length) return body.errors.map(wrong).join(' ');
  if (status >= 500 || status === 429 && !body.code) return 'The service has trouble. Please try again in a minute.';
  return body.detail || body.title || body.message || 'The service answered ' + status + '. Please load this page again.';
}

function wrong({ field, detail }) {
  const [, name] = fields.find(([like]) => like.test(field)) || [null, field];
  return name.endsWith('.') ? name : name + ': ' + detail + '.';
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
      if (attempt >= 5) throw lost instanceof Unreachable ? lost : new Unreachable('The service cannot be reached. Please check your connection and try again.');
      await wait(300 * 2 ** attempt); continue;
    }
    if (answer.status === 401) {
      if (!stale) { stale = token; continue; }
      signIn.forget();
      throw new SignedOut('Your sign-in has ended. Please sign in again.');
    }
    if (answer.status === 304) return { status: 304 };
    const data = await answer.json().catch(() => ({}));
    if (answer.ok) return { status: answer.status, tag: answer.headers.get('ETag'), data };
    const e = new Problem(answer.status, data);
    if (!later(e) || attempt >= 5) throw e;
    await wait(300 * 2 ** attempt);
  }
}
