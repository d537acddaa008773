#ifndef PDL_TEST_FAULTS_ALLOCATION_FAULTS_H_
#define PDL_TEST_FAULTS_ALLOCATION_FAULTS_H_

// For test programs that are linked with allocation_faults.cc.

/// From now on, counted from 1, allocations `from` to `until` of all threads fail; 0: none.
void FailAllocations(long from, long until);

/// The number of allocations since the last call of FailAllocations.
long CountAllocations();

#endif  // PDL_TEST_FAULTS_ALLOCATION_FAULTS_H_
