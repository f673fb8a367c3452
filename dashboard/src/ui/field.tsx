import { type ComponentProps, type ReactNode, useId } from 'react'
import { cx } from '../lib/class-names.ts'
import { t } from '../lib/language.ts'
import { groupDigits, isUnreadable, unreadableAmount } from '../lib/words.ts'
import { Icon } from './icon.tsx'
import { fieldError } from './page.tsx'

type FieldProps = { label: ReactNode; hint?: ReactNode; error?: string | undefined; optional?: boolean | undefined }

/** Value, setter and error of each draft field. `path`: its API name. `within`: prefix of that name. */
export const fieldsOf =
  <Draft extends object>(draft: Draft, set: (change: Partial<Draft>) => void, error: unknown, within = '') =>
  <Name extends keyof Draft & string>(name: Name, path: string = name) => ({
    value: draft[name],
    onChange: (value: Draft[Name]) => {
      const change: Partial<Draft> = {}
      change[name] = value
      set(change)
    },
    error: fieldError(error, within + path),
  })

type Wiring = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }

/** Connects a label, a hint and an error to their field for screen readers. */
export const Field = ({ label, hint, error, optional, children }: FieldProps & { children: (wiring: Wiring) => ReactNode }) => {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
        {optional && <span className="field-optional">{t('optional')}</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          <Icon name="alert" size={15} />
          {error}
        </p>
      )}
    </div>
  )
}

type TextProps = FieldProps &
  Omit<ComponentProps<'input'>, 'onChange' | 'list'> & {
    onChange: (value: string) => void
    mono?: boolean
    /** Texts that the browser suggests during typing. */
    suggestions?: readonly string[]
  }

export const TextField = ({ onChange, mono = false, suggestions, label, hint, error, optional, ...input }: TextProps) => (
  <Field {...{ label, hint, error, optional }}>
    {(wiring) => (
      <>
        <input
          type="text"
          autoComplete="off"
          {...wiring}
          {...input}
          {...(suggestions && { list: `${wiring.id}-suggestions` })}
          className={cx('input', mono && 'mono')}
          onChange={(event) => onChange(event.target.value)}
        />
        {suggestions && (
          <datalist id={`${wiring.id}-suggestions`}>
            {suggestions.map((text) => (
              <option key={text} value={text} />
            ))}
          </datalist>
        )}
      </>
    )}
  </Field>
)

type FileProps = FieldProps & { accept: string; onChoose: (file: File | undefined) => void }

export const FileField = ({ accept, onChoose, ...field }: FileProps) => (
  <Field {...field}>
    {(wiring) => (
      <input {...wiring} className="input" type="file" accept={accept} onChange={({ target }) => onChoose(target.files?.[0])} />
    )}
  </Field>
)

type AreaProps = FieldProps & { value: string; onChange: (value: string) => void; maxLength?: number; mono?: boolean }

export const TextArea = ({ value, onChange, maxLength, mono = false, ...field }: AreaProps) => (
  <Field {...field}>
    {(wiring) => (
      <textarea
        {...wiring}
        className={cx('input', mono && 'mono')}
        maxLength={maxLength}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

export type Option<Value extends string = string> = { value: Value; label: string }

type SelectProps<Value extends string> = FieldProps & {
  value: Value
  onChange: (value: Value) => void
  options: readonly Option<NoInfer<Value>>[]
  /** Label of the empty choice, which comes before the other options. */
  emptyLabel?: string | undefined
  autoFocus?: boolean
}

export const SelectField = <Value extends string>({
  value,
  onChange,
  options,
  emptyLabel,
  autoFocus = false,
  ...field
}: SelectProps<Value>) => {
  const all = emptyLabel === undefined ? options : [{ value: '' as Value, label: emptyLabel }, ...options]
  return (
    <Field {...field}>
      {(wiring) => (
        <select
          {...wiring}
          className="input"
          // biome-ignore lint/a11y/noAutofocus: the first field of a page that was opened to fill it in
          autoFocus={autoFocus}
          value={value}
          onChange={({ target }) => onChange(all.find((option) => option.value === target.value)?.value ?? value)}
        >
          {all.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type MoneyProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  currency: string
  large?: boolean
  autoFocus?: boolean
}

/** Position of the caret after the same number of digits as before, because typing adds and removes separators. */
const caretAfter = (grouped: string, before: string): number => {
  let left = before.replaceAll(',', '').length
  let index = 0
  for (; index < grouped.length && left > 0; index += 1) if (grouped[index] !== ',') left -= 1
  return index
}

/**
 * Whether an edit leaves no commas in the text but those of the grouping: the person typed digits, or deleted something. Any
 * other comma, such as a pasted one, may separate cents, so the text stays as it is.
 */
const leavesGroups = (before: string, edit: Event): boolean =>
  before === groupDigits(before.replaceAll(',', '')) &&
  edit instanceof InputEvent &&
  (edit.inputType.startsWith('delete') || /^[\d.]+$/.test(edit.data ?? ''))

/** Accepts an amount as people write it. `parseMajor` converts it to minor units. */
export const MoneyField = ({ value, onChange, currency, large = false, autoFocus = false, error, ...field }: MoneyProps) => (
  <Field {...field} error={isUnreadable(value) ? unreadableAmount : error}>
    {(wiring) => (
      <div className={cx('money-input', large && 'money-input-large')}>
        <span aria-hidden="true">{currency}</span>
        <input
          {...wiring}
          className="input"
          inputMode="decimal"
          autoComplete="off"
          placeholder="0.00"
          // biome-ignore lint/a11y/noAutofocus: the one field that a page was opened for
          autoFocus={autoFocus}
          value={groupDigits(value)}
          onChange={({ target, nativeEvent }) => {
            const typed = target.value
            const grouped = groupDigits(leavesGroups(groupDigits(value), nativeEvent) ? typed.replaceAll(',', '') : typed)
            if (grouped !== typed) {
              const caret = caretAfter(grouped, typed.slice(0, target.selectionStart ?? undefined))
              // React leaves an equal text and its caret alone. A caret that was set after the render could be late: after the next key.
              target.value = grouped
              target.setSelectionRange(caret, caret)
            }
            onChange(grouped)
          }}
        />
      </div>
    )}
  </Field>
)

type CheckProps = Pick<FieldProps, 'label' | 'hint'> & { value: boolean; onChange: (value: boolean) => void }

export const CheckField = ({ label, hint, value, onChange }: CheckProps) => (
  <label className="check">
    <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
    <span>
      {label}
      {hint && <span className="field-hint block"> {hint}</span>}
    </span>
  </label>
)

export type Choice<Value extends string> = { value: Value; label: string; hint?: string }

type ChoiceProps<Value extends string> = {
  label: string
  value: Value
  onChange: (value: Value) => void
  choices: readonly Choice<Value>[]
  inRow?: boolean
  error?: string | undefined
}

export const Segments = <Value extends string>({ label, value, onChange, choices }: ChoiceProps<Value>) => (
  <fieldset className="stack-s">
    <legend className="field-label">{label}</legend>
    <div className="segments">
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          className="segment"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  </fieldset>
)

export const ChoiceField = <Value extends string>({
  label,
  value,
  onChange,
  choices,
  inRow = false,
  error,
}: ChoiceProps<Value>) => {
  const name = useId()
  return (
    <fieldset className="field">
      <legend className="field-label">{label}</legend>
      <div className={cx('choices', inRow && 'choices-row')}>
        {choices.map((choice) => (
          <label key={choice.value} className="choice">
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>
              <span className="strong">{choice.label}</span>
              {choice.hint && (
                <span className="field-hint">
                  <br />
                  {choice.hint}
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  )
}
