'use strict';
// The analyses that somebody has sent: the way to a report whose tab was closed, and
// to a clip that never arrived.
const states = {
  reserved: 'clip not uploaded yet', queued: 'in the queue', analysing: 'being analysed', ready: 'report ready',
  rejected: 'not analysed, credit given back', failed: 'did not work, credit given back', expired: 'not uploaded, credit given back',
};
let next = ''; // where the list goes on

// earlier lists a page of them, newest first.
async function earlier(cursor) {
  const view = shown;
  const { data } = await call('GET', '/v1/analyses?' + new URLSearchParams({ limit: 10, ...(cursor && { cursor }) }));
  if (view !== shown) return; // it may be somebody else's page by now
  const items = data.analyses.map((a) => {
    const li = document.createElement('li'), link = document.createElement('a');
    const clip = a.clips && a.clips[0] && a.clips[0].name;
    link.href = location.pathname + '?' + new URLSearchParams({ analysis: a.analysis_id });
    link.textContent = new Date(a.created_at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) + (clip ? ' · ' + clip : '');
    li.append(link, element('span', states[a.status] || a.status));
    return li;
  });
  if (cursor) $('list').append(...items); else $('list').replaceChildren(...items);
  next = data.next_cursor || '';
  show('more', !!next); show('earlier', $('list').children.length > 0);
}
