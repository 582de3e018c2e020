import { serve } from '../../core/threads/serve.ts';
import { answerPdf } from './pdf.ts';

serve(answerPdf);
