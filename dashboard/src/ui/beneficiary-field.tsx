import { useState } from 'react'
import type { Beneficiaries } from '../api/use-beneficiaries.ts'
import { SelectField, TextField } from './field.tsx'

type Props = {
  beneficiaries: Beneficiaries
  value: string
  onChange: (id: string) => void
  /** What stands for no choice. */
  none: string
  label?: string
  hint?: string | undefined
  error?: string | undefined
  autoFocus?: boolean
}

/** One beneficiary: from a list where it has all of them, else by typing a part of the name. */
export const BeneficiaryField = ({ beneficiaries, value, onChange, none, label = 'Beneficiary', ...field }: Props) => {
  const { all, complete, nameOf } = beneficiaries
  if (!complete) return <SearchField {...{ beneficiaries, value, onChange, none, label, ...field }} />
  return (
    <SelectField
      label={label}
      value={value}
      onChange={onChange}
      none={none}
      options={[
        ...all
          .filter(({ id, status }) => status !== 'archived' || id === value)
          .map(({ id, display_name, status }) => ({
            value: id,
            label: status === 'active' ? display_name : `${display_name} (${status})`,
          })),
        ...(value !== '' && !all.some(({ id }) => id === value) ? [{ value, label: nameOf(value) }] : []),
      ]}
      {...field}
    />
  )
}

/** The service searches as one types; the suggestions are the browser's own, so the keyboard works as everywhere. */
const SearchField = ({ beneficiaries, value, onChange, none, hint, ...field }: Props & { label: string }) => {
  const { all, search, nameOf, isPending } = beneficiaries
  const [typed, setTyped] = useState<string | null>(null)
  const shown = typed ?? (value === '' || isPending ? '' : nameOf(value))
  const type = (text: string) => {
    setTyped(text)
    search(text)
    const match = all.find(({ display_name, status }) => display_name === text && status === 'active')
    onChange(match?.id ?? '')
  }
  return (
    <TextField
      hint={hint ?? 'Type a part of the name'}
      {...field}
      value={shown}
      placeholder={none}
      suggestions={[...new Set(all.filter(({ status }) => status === 'active').map(({ display_name: name }) => name))]}
      onChange={type}
      onBlur={() => {
        // A text that names no one leaves nothing chosen.
        if (value === '') setTyped(null)
      }}
    />
  )
}
