import { useState } from 'react'
import type { Beneficiaries } from '../api/names.ts'
import { t } from '../lib/language.ts'
import { statusText } from '../lib/words.ts'
import { SelectField, TextField } from './field.tsx'
import { type ManyProps, PickMany } from './pick-many.tsx'

type Props = {
  beneficiaries: Beneficiaries
  value: string
  onChange: (id: string) => void
  emptyLabel: string
  label?: string
  hint?: string | undefined
  error?: string | undefined
  autoFocus?: boolean
}

/** Chooses one beneficiary: from a list if all are loaded, else by typing part of the name. */
export const BeneficiaryField = ({ beneficiaries, value, onChange, emptyLabel, label = t('beneficiary'), ...field }: Props) => {
  const { offered: all, hasAll: complete, labelOf } = beneficiaries
  if (!complete) return <SearchField {...{ beneficiaries, value, onChange, emptyLabel, label, ...field }} />
  return (
    <SelectField
      label={label}
      value={value}
      onChange={onChange}
      emptyLabel={emptyLabel}
      options={[
        ...all
          .filter(({ id, status }) => status !== 'archived' || id === value)
          .map(({ id, status }) => ({
            value: id,
            label: status === 'active' ? labelOf(id) : `${labelOf(id)} (${statusText(status).toLowerCase()})`,
          })),
        ...(value !== '' && !all.some(({ id }) => id === value) ? [{ value, label: labelOf(value) }] : []),
      ]}
      {...field}
    />
  )
}

/** Search field: the service searches during typing. The browser shows the suggestions, so the keyboard works as usual. */
const SearchField = ({ beneficiaries, value, onChange, emptyLabel, hint, ...field }: Props & { label: string }) => {
  const { offered: all, search, labelOf, isPending } = beneficiaries
  const offered = all.filter(({ status }) => status === 'active').map(({ id }) => ({ id, label: labelOf(id) }))
  const [typed, setTyped] = useState<string | null>(null)
  const shown = typed ?? (value === '' || isPending ? '' : labelOf(value))
  const type = (text: string) => {
    setTyped(text)
    const match = offered.find(({ label }) => label === text)
    // A chosen label is not a search text.
    search(match ? '' : text)
    onChange(match?.id ?? '')
  }
  return (
    <TextField
      hint={hint ?? t('payee.type')}
      {...field}
      value={shown}
      placeholder={emptyLabel}
      suggestions={[...new Set(offered.map(({ label }) => label))]}
      onChange={type}
      onBlur={() => {
        // Text without a matching beneficiary chooses nothing.
        if (value === '') setTyped(null)
      }}
    />
  )
}

/** Chooses several beneficiaries. Archived ones are hidden, because they cannot be paid. */
export const BeneficiariesField = ({ beneficiaries, ...field }: ManyProps & { beneficiaries: Beneficiaries }) => (
  <PickMany
    label={t('payee.only')}
    placeholder={t('payee.choose')}
    onType={beneficiaries.search}
    nameOf={beneficiaries.labelOf}
    options={beneficiaries.offered
      .filter(({ status }) => status !== 'archived')
      .map(({ id }) => ({ value: id, label: beneficiaries.labelOf(id) }))}
    {...field}
  />
)
