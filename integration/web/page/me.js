'use strict';
// How somebody is told of an end, all that is held about them, and its deletion.
let me = null; // what was read last, with the version of the choice

async function mine() {
  const view = shown;
  const { data } = await call('GET', '/v1/me');
  if (view === shown) { me = data; shows(); } // else somebody signed out, or went on, meanwhile
}

function shows() {
  $('mails').checked = me.channels.email; $('mails').disabled = !!me.erasure;
  if (me.erasure) {
    say(me.erasure.state === 'done' ? 'Everything about you has been deleted, as you asked.' : 'Everything about you is being deleted, as you asked. It takes some hours.');
    for (const id of ['submit', 'erasing']) show(id, false);
  }
  show('me', true);
}

function say(text) { $('me-said').textContent = text; }

// choose stores whether mails are wanted. A choice that was made elsewhere meanwhile
// is shown before mails are turned on again; that none are wanted holds in any case.
async function choose() {
  const email = $('mails').checked, view = shown;
  $('mails').disabled = true;
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const { data } = await call('PUT', '/v1/me', { body: { channels: { ...me.channels, email }, version: me.version } });
        if (view !== shown) return;
        me = data;
        say(email ? 'You get a mail when an analysis has ended, if you gave an address with it.' : 'You get no more mails.');
        break;
      } catch (e) {
        if (e.code !== 'channels_changed') throw e;
        await mine();
        if (view !== shown) return;
        if (!email && attempt < 4) continue;
        say('This was changed elsewhere meanwhile. It stands as you see it.');
        break;
      }
    }
  } catch (e) { failed(e); }
  if (view === shown) shows();
}

// download puts all that is held into a file.
async function download() {
  $('export').disabled = true;
  try {
    const pages = [];
    for (let cursor = ''; ;) {
      const { data } = await call('GET', '/v1/me/export' + (cursor && '?' + new URLSearchParams({ cursor })));
      pages.push(data);
      if (!(cursor = data.next_cursor)) break;
    }
    const a = document.createElement('a');
    a.href = URL.createObjectURL(new Blob([JSON.stringify(pages, null, 1)], { type: 'application/json' }));
    a.download = 'bowling-analyses.json';
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
    say('The file is among your downloads. Its links to clips and reports are good for a quarter of an hour.');
  } catch (e) { failed(e); }
  $('export').disabled = false;
}

async function erase(event) {
  event.preventDefault();
  if ($('sure').value.trim().toUpperCase() !== 'DELETE') { say('Nothing was deleted: the word is DELETE.'); return; }
  try { await call('DELETE', '/v1/me'); await mine(); land('me'); } catch (e) { failed(e); }
}

$('mails').addEventListener('change', choose);
$('export').addEventListener('click', download);
$('erasing').addEventListener('submit', erase);
