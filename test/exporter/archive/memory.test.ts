import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { describeArchive } from '../../conformance/archive.ts';

describeArchive('memory', async () => openMemoryArchive());
