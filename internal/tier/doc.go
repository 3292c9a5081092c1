// Package tier places definitions of custom resources in an aggregated tier,
// and moves a group's objects into one and back, on a live cluster. It stands
// at the end of the flow beside prove: what generators render, it fills.
//
// What is to be done is planned by pure functions over what was seen (planCRDs,
// nextStep, undoOrder); Install and Move see and do it. Objects are moved from
// one etcd to another as they are stored, since an API server gives every
// object that it creates a new identity.
package tier
