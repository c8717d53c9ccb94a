// Every attack, in the order of a run.
import type { Attack } from '../attack.js'
import { outwardAttacks } from './outward.js'
import { programAttacks } from './programs.js'
import { requestAttacks } from './requests.js'
import { storageAttacks } from './storage.js'

export const attacks: readonly Attack[] = [...requestAttacks, ...outwardAttacks, ...storageAttacks, ...programAttacks]
