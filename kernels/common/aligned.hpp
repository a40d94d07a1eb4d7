// Vectors that begin at a cache line: a register that is loaded from one of them lies in a single line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace bayeswise {

constexpr std::align_val_t kCacheLine{64};

template <typename T>
struct CacheLineAllocator {
    using value_type = T;

    CacheLineAllocator() = default;
    template <typename U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kCacheLine)); }
    void deallocate(T* place, std::size_t) { ::operator delete(place, kCacheLine); }

    friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
    friend bool operator!=(const CacheLineAllocator&, const CacheLineAllocator&) { return false; }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace bayeswise
