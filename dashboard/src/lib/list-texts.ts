import english from '../../../texts/lists.en.json' with { type: 'json' }
import { readTexts } from './language.ts'

/** Texts of the batch pages. */
export const {
  t: tList,
  rich: richList,
  isKey: isListKey,
} = await readTexts(english, () => import('../../../texts/lists.sw.json', { with: { type: 'json' } }))
