import type { Schemas } from '../api/types.ts'

type Approval = Schemas['Approval']

/** Whether a decision counts: a rejection always, an approval only if it is signed where signatures are asked for. */
export const counts = (
  { approval_proof: proof }: Pick<Approval, 'approval_proof'>,
  { decision, via }: Pick<Approval['decisions'][number], 'decision' | 'via'>,
): boolean => decision === 'reject' || proof === 'any' || via !== 'credential'
