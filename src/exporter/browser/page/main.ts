import { enableDrop } from './drop.ts';
import { enableTable } from './table.ts';

const table = document.querySelector<HTMLTableElement>('#table');
const tools = document.querySelector<HTMLFormElement>('form.tools');
if (table !== null && tools !== null) enableTable(table, tools);

const drop = document.querySelector<HTMLElement>('#drop');
const results = document.querySelector<HTMLElement>('#results');
const verifier = document.querySelector('#verifier');
const said = document.querySelector<HTMLElement>('#said');
if (drop !== null && results !== null && said !== null && verifier !== null)
  enableDrop(drop, results, said, verifier.textContent);
