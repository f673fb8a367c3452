import english from '../../../texts/lists.en.json' with { type: 'json' }
import { createTranslator } from './language.ts'

/** Texts of the batch pages. */
export const {
  t: tBatch,
  rich: richBatch,
  isKey: isBatchKey,
} = await createTranslator(english, () => import('../../../texts/lists.sw.json', { with: { type: 'json' } }))
