import english from '../../../../texts/reconciliation.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const {
  t: tRecon,
  rich: richRecon,
  isKey: isReconText,
} = await createTranslator(english, () => import('../../../../texts/reconciliation.sw.json', { with: { type: 'json' } }))
