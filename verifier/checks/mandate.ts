import { formatId } from '../../src/lib/ids.ts'
import { limitLines } from '../../src/lib/mandate-limits-text.ts'
import { unpackInputs } from '../../src/policy/inputs.ts'
import type { MandateRules } from '../../src/policy/types.ts'
import { bad, type Finding, judged } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

/** The first line that is missing from the signed text, if the text should state these terms. */
const missingLine = (message: string, { currency }: Receipt['payment'], used: MandateRules): string | undefined => {
  const limits = {
    ...used,
    beneficiaries: used.beneficiaryIds.map((id) => formatId('beneficiary', id)),
    grant: used.grantId === null ? null : formatId('grant', used.grantId),
  }
  const { what, who, until } = limitLines(limits, currency)
  const workspace = ['your personal workspace', formatId('workspace', used.workspaceId)].map((name) => `Workspace: ${name}`)
  const from = ['the moment it is created', used.validFrom.toISOString()].map((time) => `Valid from: ${time}`)
  // Limits must be consecutive lines, so that none can be omitted. Descriptions have no line breaks, so they cannot fake a limit.
  const needed = [[`${what.join('\n')}\n${workspace[0]}`, `${what.join('\n')}\n${workspace[1]}`], [who], from, [until]]
  const text = `\n${message}\n`
  return needed.find((either) => !either.some((lines) => text.includes(`\n${lines}\n`)))?.at(-1)
}

const usedBy = ({ decision_inputs: inputs, policies }: Receipt): MandateRules | null =>
  inputs &&
  unpackInputs(
    inputs,
    policies.map(({ document }) => document),
  ).mandate

/** Whether the payment's mandate is the one that decided, and its wallet signed the terms used in the decision. */
export const checkMandate = (receipt: Receipt): Finding[] => {
  const { payment, mandate, decision_inputs: inputs } = receipt
  const check = 'terms of the mandate'
  try {
    const used = usedBy(receipt)
    const decided = used && formatId('mandate', used.id)
    if ((mandate?.id ?? null) !== payment.mandate_id || (inputs && decided !== payment.mandate_id))
      return [bad(check, 'the payment, its decision and the signed text are not about the same mandate')]
    if (!mandate || !used) return []
    const missing = missingLine(mandate.message, payment, used)
    return [judged(check, missing === undefined, 'those that its wallet signed', `the signed text lacks "${missing}"`)]
  } catch (error) {
    return [bad(check, `they cannot be read: ${error instanceof Error ? error.message : String(error)}`)]
  }
}
