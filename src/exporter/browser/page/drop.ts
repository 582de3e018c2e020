import { messageOf } from '../../../core/errors.ts';
import { nameUnseen } from '../../../core/html/unseen.ts';
import type { Reply, Result, VerifierRequest } from '../messages.ts';
import { belongingOf, element, isolated, resultOf } from './result.ts';

/** Accepts bundles that are dropped or chosen, verifies them one after another, and shows each result. */
export function enableDrop(drop: HTMLElement, results: HTMLElement, said: HTMLElement, program: string): void {
  const input = drop.querySelector('input');
  if (input === null) return;
  const ownRun = drop.dataset['run'] ?? '';
  let verified = 0;
  const say = (file: File, word: string) => {
    said.textContent = nameUnseen(`${++verified} of ${results.childElementCount} done. ${file.name}: ${word}`);
  };
  const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }));
  let last = Promise.resolve();
  const take = (files: FileList) => {
    for (const file of files) {
      const place = placeFor(file);
      results.append(place);
      last = last.then(() => verify(file, place, url, ownRun)).then((word) => say(file, word));
    }
  };
  input.addEventListener('change', () => {
    if (input.files !== null) take(input.files);
    input.value = '';
  });
  // Handles drops anywhere on the page: the browser would otherwise open the file and discard the results.
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  document.addEventListener('dragleave', () => drop.classList.remove('over'));
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    if (event.dataTransfer !== null) take(event.dataTransfer.files);
    results.scrollIntoView({ block: 'nearest' });
  });
  drop.hidden = false;
}

function placeFor(file: File): HTMLElement {
  const size = element('span', { class: 'minor' }, `${file.size} bytes`);
  const title = element('h3', {}, isolated(file.name), size);
  const progress = element('progress', { max: '1', value: '0', 'aria-label': `Verifying ${file.name}` });
  return element('article', { class: 'result', 'aria-busy': 'true' }, title, progress);
}

/** Never rejects: every outcome is shown on the page. @returns the outcome in a word. */
async function verify(file: File, place: HTMLElement, url: string, ownRun: string): Promise<string> {
  const progress = place.querySelector('progress');
  const shown = await ask(file, url, (share) => {
    if (progress !== null) progress.value = share;
  }).then(
    (result) => resultOf(result, belongingOf(result, ownRun)),
    (error: unknown) => [
      element(
        'div',
        { class: 'verdict caution' },
        element('b', {}, 'NOT VERIFIED'),
        element('p', {}, nameUnseen(messageOf(error))),
      ),
    ],
  );
  progress?.remove();
  place.append(...shown);
  place.removeAttribute('aria-busy');
  return place.querySelector('.verdict b')?.textContent ?? '';
}

/** Runs each bundle in a separate worker, so that terminating it frees all memory. */
function ask(file: File, url: string, onProgress: (share: number) => void): Promise<Result> {
  const worker = new Worker(url);
  const answer = new Promise<Result>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
      if (data.kind === 'progress') onProgress(data.share);
      else if (data.kind === 'result') resolve(data.result);
      else reject(new Error(data.message));
    });
    worker.addEventListener('error', (event) =>
      reject(new Error(event.message || 'the verifier could not be started')),
    );
  });
  const question: VerifierRequest = { file, now: Date.now() };
  worker.postMessage(question);
  return answer.finally(() => worker.terminate());
}
