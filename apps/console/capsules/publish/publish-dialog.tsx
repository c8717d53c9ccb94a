// Shows a sealed capsule to everyone. It cannot be taken back, so the readme is seen before as it will look.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { fieldFault } from '../../api/field-fault.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf, listText } from '../../components/limits/limits.js'
import { Modal } from '../../components/modal.js'
import { Refusal } from '../../components/notice.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { Readme } from './readme.js'

export function PublishDialog({ capsule: { record }, onClose }: { capsule: ReadCapsule; onClose: () => void }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [form, setForm] = useState({
    title: record.name,
    description: record.description,
    readme: '',
    license: '',
    category: '',
    tags: record.tags.join(', ')
  })
  const [seen, setSeen] = useState(false)
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const publish = useMutation({
    mutationFn: () => {
      const { title, description, readme, license, category } = form
      const tags = form.tags
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== '')
      const body = {
        title,
        description,
        tags,
        ...(readme !== '' && { readme }),
        ...(license !== '' && { license }),
        ...(category !== '' && { category })
      }
      return withKey([record.id, body], (header) =>
        bodyOf(
          api.POST('/api/capsules/{id}/publish', { params: { path: { id: record.id }, header }, body, parseAs: 'text' })
        )
      )
    },
    onSuccess: onClose,
    onSettled: async () => {
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      await queryClient.invalidateQueries({ queryKey: ['capsule', record.id] })
    }
  })
  const fault = fieldFault(publish.error, ['title', 'description', 'license', 'category', 'tags', 'readme'])
  const faultAt = (field: string) => (fault?.field === field ? fault.text : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    publish.mutate()
  }
  return (
    <Modal title="Publish this capsule" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>
          This is final. Everyone can then read its programs, parameters, results and verdicts, without an account, and
          download it with the costs of its jobs. It can no longer be archived. Neither your name nor that of your team
          is shown.
        </p>
        <LimitedField
          label="Title"
          value={form.title}
          onChange={set('title')}
          limits={limitsOf('publishCapsule', 'title')}
          fault={faultAt('title')}
          isRequired
        />
        <LimitedField
          label="Description"
          value={form.description}
          onChange={set('description')}
          limits={limitsOf('publishCapsule', 'description')}
          fault={faultAt('description')}
          isRequired
        />
        <div className={layout.filters}>
          <LimitedField
            label="License (optional)"
            value={form.license}
            onChange={set('license')}
            limits={limitsOf('publishCapsule', 'license')}
            fault={faultAt('license')}
            help="For example CC-BY-4.0"
          />
          <LimitedField
            label="Category (optional)"
            value={form.category}
            onChange={set('category')}
            limits={limitsOf('publishCapsule', 'category')}
            fault={faultAt('category')}
          />
          <Field
            label="Tags, with commas between"
            value={form.tags}
            onChange={set('tags')}
            fault={faultAt('tags')}
            help={listText(limitsOf('publishCapsule', 'tags'), limitsOf('publishCapsule', 'tags[]'))}
          />
        </div>
        <LimitedField
          label="Readme in Markdown (optional)"
          value={form.readme}
          onChange={set('readme')}
          limits={limitsOf('publishCapsule', 'readme')}
          rows={10}
          fault={faultAt('readme')}
        />
        <Button onPress={() => setSeen(!seen)}>{seen ? 'Hide the preview' : 'Preview the readme'}</Button>
        {seen ? (
          <section aria-label="Preview of the readme">
            <Readme text={form.readme} />
          </section>
        ) : null}
        {fault ? null : <Refusal error={publish.error} />}
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={publish.isPending}>
            Publish
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}
