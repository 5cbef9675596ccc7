'use strict';
// Sending a clip: each try has a form that was signed for it, so that one which a
// phone slept over is no dead end; a connection that stands still is given up.
const still = 60000; // ms without a byte on its way

// deliver uploads a clip and confirms it. An analysis that has its clip is left alone.
async function deliver(path, file, progress) {
  const stay = (e) => { if (signIn.resumable()) e.preventDefault(); }; // the browser asks before it leaves, but not whoever signs out
  addEventListener('beforeunload', stay);
  try {
    for (let attempt = 1; ; attempt++) {
      const { data } = await call('POST', path + '/uploads');
      if (!data.uploads.length) break; // nothing is taken any more: the confirm says why
      try { await upload(data.uploads[0], file, progress); break; } catch (e) {
        if (e.final || attempt >= 5) throw e;
        await nap(1000 * 2 ** attempt);
      }
    }
    await call('POST', path + '/confirm');
  } catch (e) {
    if (e.code !== 'analysis_running' && e.code !== 'analysis_ended') throw e; // else another tab was quicker
  } finally { removeEventListener('beforeunload', stay); }
}

// arrived confirms an analysis whose clip is there, and tells whether it is.
async function arrived(path) {
  try { await call('POST', path + '/confirm'); return true; } catch (e) {
    if (e.code === 'clips_missing') return false;
    if (e.code === 'analysis_running' || e.code === 'analysis_ended') return true;
    throw e;
  }
}

// upload sends a clip with its form.
function upload(form, file, progress) {
  return new Promise((done, fail) => {
    const body = new FormData();
    for (const [k, v] of Object.entries(form.fields)) body.append(k, v);
    body.append('file', file);
    const x = new XMLHttpRequest();
    let timer;
    const moved = () => { clearTimeout(timer); timer = setTimeout(() => x.abort(), still); };
    const cut = () => fail(new Told('The clip did not get through. Check your connection and upload it again; what you paid is not lost.'));
    x.open('POST', form.url);
    x.upload.onprogress = (e) => { moved(); if (e.lengthComputable) progress(e.loaded / e.total); };
    x.onload = () => {
      if (x.status < 300) { done(); return; }
      const large = x.responseText.includes('EntityTooLarge');
      fail(Object.assign(new Told(large ? 'The clip is too large. Cut it to the one delivery, and upload that.' : 'The clip was not taken (' + x.status + '). Please upload it again.'), { final: large }));
    };
    x.onerror = cut; x.onabort = cut;
    x.onloadend = () => clearTimeout(timer);
    moved();
    x.send(body);
  });
}

// nap waits, but not when somebody comes back to the page, or its connection does.
function nap(ms) {
  return new Promise((done) => {
    const timer = setTimeout(over, ms);
    const seen = () => { if (!document.hidden) over(); };
    function over() { clearTimeout(timer); removeEventListener('online', over); document.removeEventListener('visibilitychange', seen); done(); }
    addEventListener('online', over); document.addEventListener('visibilitychange', seen);
  });
}
