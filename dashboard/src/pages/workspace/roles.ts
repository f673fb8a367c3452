import type { Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import type { Choice } from '../../ui/field.tsx'
import { tWork } from './texts.ts'

export type Role = Schemas['Member']['role']

const roles = ['owner', 'admin', 'approver', 'member', 'viewer', 'auditor'] as const satisfies readonly Role[]

const choices: readonly Choice<Role>[] = roles.map((value) => ({
  value,
  label: t(`status.${value}`),
  hint: tWork(`role.${value}`),
}))

/** Only owners can make someone an owner. */
export const roleChoices = (own: Role): readonly Choice<Role>[] =>
  own === 'owner' ? choices : choices.filter(({ value }) => value !== 'owner')

export const roleHint = (role: Role): string => choices.find(({ value }) => value === role)?.hint ?? ''
