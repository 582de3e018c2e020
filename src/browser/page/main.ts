import { enableDrop } from './drop.ts';
import { enableTable } from './table.ts';

const table = document.querySelector<HTMLTableElement>('#table');
const tools = document.querySelector<HTMLFormElement>('form.tools');
if (table !== null && tools !== null) enableTable(table, tools);

const drop = document.querySelector<HTMLElement>('#drop');
const results = document.querySelector<HTMLElement>('#results');
const verifier = document.querySelector('#verifier');
if (drop !== null && results !== null && verifier !== null) enableDrop(drop, results, verifier.textContent);
