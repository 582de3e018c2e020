import { serve } from '../../core/threads/serve.ts';
import { writeBundle } from '../bundle/write.ts';

serve(writeBundle);
