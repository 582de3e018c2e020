/* Pages work without this. It copies what is shown to be copied. */
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
