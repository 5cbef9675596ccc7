'use strict';
// Signing in at the user pool's own pages: OAuth 2.0's authorization code with PKCE
// (S256), for a page that has no server behind it. What comes back counts only with
// the state that this very tab made, once.
//
// The access token stays in memory, for minutes. The refresh token is in the tab's
// sessionStorage: a phone drops a page that waits for its report, and must find it
// signed in again. It changes at each use, and signing out ends it.

class Told extends Error {} // its message is a sentence for whoever sits before the page
class SignedOut extends Told {} // only signing in again helps
class Unreachable extends Told {} // later helps

// What the address says is taken off it before anything else happens: a code must
// stay neither in it nor in the history.
const address = new URLSearchParams(location.search);
const answer = Object.fromEntries(['code', 'state', 'error'].map((name) => [name, address.get(name)]));
if (['code', 'state', 'error'].some((name) => address.has(name))) toAnalysis(address.get('analysis'));

// toAnalysis makes the page's own address lead to an analysis, or to none.
function toAnalysis(id) { history.replaceState(null, '', location.pathname + (id ? '?' + new URLSearchParams({ analysis: id }) : '')); }

const signIn = (() => {
  const pending = 'fbl.sign-in', kept = 'fbl.refresh'; // names in sessionStorage
  const ended = 'Your sign-in has ended. Please sign in again.';
  const tabs = new BroadcastChannel('fbl.sign-out');
  let config, access = '', until = 0, renewing = null, era = 0; // a new era begins when a sign-in is forgotten

  const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const secret = () => encode(crypto.getRandomValues(new Uint8Array(32)));
  // A browser that keeps nothing for this page throws at the first touch.
  const read = (name) => { try { return sessionStorage.getItem(name); } catch { return null; } };
  const drop = (name) => { try { sessionStorage.removeItem(name); } catch { /* there is nothing */ } };

  // begin sends the browser to the user pool's pages; analysis is what to show afterwards.
  async function begin(analysis) {
    if (!crypto.subtle) throw new Told('Signing in needs a page that was opened by https.');
    const state = secret(), nonce = secret(), verifier = secret();
    const challenge = encode(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
    try { sessionStorage.setItem(pending, JSON.stringify({ state, nonce, verifier, analysis })); } catch {
      throw new Told('This browser keeps nothing for this page, so it cannot sign in. Allow cookies for it, or leave the private window.');
    }
    location.assign(config.authorize + '?' + new URLSearchParams({ response_type: 'code', client_id: config.client, redirect_uri: config.app,
      scope: config.scope, state, nonce, code_challenge: challenge, code_challenge_method: 'S256' }));
  }

  // back ends a signing in, if the address said that it is one: it gives the analysis
  // that the sign-in was begun for, and done, or the trouble there was.
  async function back() {
    const { code, state, error } = answer;
    if (code === null && error === null) return {};
    let begun = null;
    try { begun = JSON.parse(read(pending)); } catch { /* not ours */ }
    if (!begun || !state || begun.state !== state) return { trouble: 'This is the answer to a sign-in that was not begun here, or was begun anew since. Please sign in again.' };
    drop(pending); // it counts once
    const { analysis } = begun;
    try {
      if (error !== null) throw new SignedOut(refusal(error));
      await take({ grant_type: 'authorization_code', code, redirect_uri: config.app, code_verifier: begun.verifier }, begun.nonce);
      return { analysis, done: true };
    } catch (e) { forget(); return { analysis, trouble: e.message }; }
  }

  // refusal puts an error into our own words: anybody can write into a link.
  function refusal(error) {
    if (error === 'access_denied') return 'You did not sign in.';
    if (error === 'server_error' || error === 'temporarily_unavailable') return 'The sign-in service has trouble. Please try again in a minute.';
    return 'Signing in did not work. Please try again; if it goes on, tell us.';
  }

  // take gets tokens. A nonce is demanded of those that a code gives.
  async function take(fields, nonce) {
    const begun = era;
    let got, data;
    try {
      got = await fetch(config.token, { method: 'POST', body: new URLSearchParams({ client_id: config.client, ...fields }),
        cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer' });
      data = await got.json();
    } catch { throw new Unreachable('The sign-in service cannot be reached. Please try again in a minute.'); }
    if (got.status >= 500 || got.status === 429) throw new Unreachable('The sign-in service has trouble. Please try again in a minute.');
    if (!got.ok || !data?.access_token) throw new SignedOut(nonce ? 'This sign-in took too long, or was used already. Please sign in again.' : ended);
    if (begun !== era) { revoke(data.refresh_token); throw new SignedOut('You have signed out.'); } // while the answer was on its way
    if (nonce && !ours(data.id_token, nonce)) throw new SignedOut('Signing in gave an answer that is not for this page. Please sign in again.');
    // Only how long it is good counts, not the time on anybody's clock.
    const life = Number(data.expires_in) || 300;
    access = data.access_token; until = Date.now() + Math.max(life - 60, life / 2) * 1000;
    if (data.refresh_token) try { sessionStorage.setItem(kept, data.refresh_token); } catch { /* then for as long as the token is good */ }
  }

  // ours tells whether an ID token answers our request. It came straight from the
  // issuer, so that its signature says nothing more (OpenID Connect 1.0, 3.1.3.7).
  function ours(id, nonce) {
    try {
      const claims = JSON.parse(atob(id.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
      return claims.nonce === nonce && claims.iss === config.issuer && claims.aud === config.client && claims.token_use === 'id';
    } catch { return false; }
  }

  // token gives an access token other than stale, which the API refused; calls at
  // once share one renewal, since a refresh token works once.
  async function token(stale) {
    if (access && access !== stale && Date.now() < until) return access;
    renewing = renewing || renew().finally(() => { renewing = null; });
    await renewing;
    return access;
  }

  async function renew() {
    const refresh = read(kept);
    if (!refresh) { forget(); throw new SignedOut(ended); }
    try { await take({ grant_type: 'refresh_token', refresh_token: refresh }); } catch (e) {
      if (e instanceof SignedOut) forget();
      throw e;
    }
  }

  function forget() { era++; access = ''; until = 0; drop(kept); }

  // revoke makes a refresh token worthless, whoever holds it. Nothing is read of the
  // answer, so that it works without the other side's leave; nobody waits long for it.
  function revoke(refresh) {
    if (!refresh) return null;
    const sent = fetch(config.revoke, { method: 'POST', mode: 'no-cors', credentials: 'omit', keepalive: true, referrerPolicy: 'no-referrer',
      body: new URLSearchParams({ client_id: config.client, token: refresh }) }).catch(() => {});
    return Promise.race([sent, new Promise((done) => setTimeout(done, 3000))]);
  }

  // end forgets and revokes.
  function end() { const refresh = read(kept); forget(); return revoke(refresh); }

  // leave signs out here, in the other tabs, and at the user pool's pages.
  async function leave() {
    tabs.postMessage('out');
    await end();
    location.assign(config.logout + '?' + new URLSearchParams({ client_id: config.client, logout_uri: config.app }));
  }

  return { use: (c) => { config = c; }, begin, back, token, forget, leave, resumable: () => !!read(kept),
    whenLeft: (then) => { tabs.onmessage = () => { end(); then(); }; } };
})();
