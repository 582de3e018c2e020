/* Pages work without this. It copies what is shown to be copied, and keeps new what changes. */
for (const button of document.querySelectorAll('button[data-copies]')) {
  const source = document.getElementById(button.dataset.copies);
  if (source === null || navigator.clipboard === undefined) continue;
  const word = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Could not copy';
    }
    setTimeout(() => {
      button.textContent = word;
    }, 2000);
  });
}

const live = document.getElementById('live');
if (live !== null) keepNew(live);

/* Asks again and again for its own page: what has not changed is not sent. */
function keepNew(region) {
  const EVERY_MS = 3000;
  /* A page that nobody looks at does not keep a session open. */
  const LONGEST_MS = 30 * 60 * 1000;
  let lastSeen = Date.now();
  const see = () => {
    lastSeen = Date.now();
  };
  for (const sign of ['pointermove', 'keydown', 'scroll']) addEventListener(sign, see, { passive: true });
  note('This page updates automatically.');
  const timer = setInterval(async () => {
    if (document.hidden) return;
    if (Date.now() - lastSeen > LONGEST_MS) return stop();
    const headers = { 'if-none-match': `"${region.dataset.live}"` };
    const answer = await fetch(location.href, { headers, cache: 'no-store' }).catch(() => null);
    if (answer === null || answer.status === 304) return;
    if (answer.redirected || !answer.ok) return stop();
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    show(page.getElementById('live'));
  }, EVERY_MS);

  function note(words) {
    document.getElementById('live-note').textContent = words;
  }

  function stop() {
    clearInterval(timer);
    note('Automatic updates stopped. Reload the page.');
  }

  function show(fresh) {
    if (fresh === null) return;
    const held = region.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    const isNews = fresh.dataset.says !== region.dataset.says;
    region.dataset.live = fresh.dataset.live;
    region.dataset.says = fresh.dataset.says;
    region.replaceChildren(...fresh.childNodes);
    note('This page updates automatically.');
    if (held !== null) region.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
    if (isNews) document.getElementById('live-said').textContent = region.dataset.says;
  }
}
