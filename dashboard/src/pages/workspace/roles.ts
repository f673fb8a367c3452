import type { Schemas } from '../../api/queries.ts'
import type { Choice } from '../../ui/field.tsx'

export type Role = Schemas['Member']['role']

const choices: readonly Choice<Role>[] = [
  { value: 'owner', label: 'Owner', hint: 'Everything, including naming other owners' },
  { value: 'admin', label: 'Administrator', hint: 'Everything except ownership' },
  { value: 'approver', label: 'Approver', hint: 'Sees everything and decides approvals' },
  { value: 'member', label: 'Member', hint: 'Pays, tops up and manages beneficiaries' },
  { value: 'viewer', label: 'Viewer', hint: 'Sees everything, changes nothing' },
  { value: 'auditor', label: 'Auditor', hint: 'Sees everything, the activity too, and exports evidence. Changes nothing' },
]

/** Only owners make owners. */
export const roleChoices = (own: Role): readonly Choice<Role>[] =>
  own === 'owner' ? choices : choices.filter(({ value }) => value !== 'owner')

export const roleHint = (role: Role): string => choices.find(({ value }) => value === role)?.hint ?? ''
