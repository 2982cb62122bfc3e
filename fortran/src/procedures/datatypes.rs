//! Layout of data in memory, packing (§5).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Get_address mpi_get_address_ (location: Choice as descriptor, address: Place<isize>) on none() { }
}
procedure! {
    MPI_Pack mpi_pack_ (inbuf: Choice as descriptor, incount: Value<c_int>, datatype: handles::In<Datatype>, outbuf: Choice as descriptor, outsize: Value<c_int>, position: Place<c_int>, comm: handles::In<Comm>) on comm(comm) { data(inbuf, incount, datatype); bytes_into(outbuf, outsize); }
}
procedure! {
    MPI_Pack_c mpi_pack_c_ (inbuf: Choice as descriptor, incount: Value<i64>, datatype: handles::In<Datatype>, outbuf: Choice as descriptor, outsize: Value<i64>, position: Place<i64>, comm: handles::In<Comm>) on comm(comm) { data(inbuf, incount, datatype); bytes_into(outbuf, outsize); }
}
procedure! {
    MPI_Pack_external mpi_pack_external_ (datarep: text::In[datarep_len] as descriptor, inbuf: Choice as descriptor, incount: Value<c_int>, datatype: handles::In<Datatype>, outbuf: Choice as descriptor, outsize: Value<isize>, position: Place<isize>) (datarep_len: datarep) on none() { data(inbuf, incount, datatype); bytes_into(outbuf, outsize); }
}
procedure! {
    MPI_Pack_external_c mpi_pack_external_c_ (datarep: text::In[datarep_len] as descriptor, inbuf: Choice as descriptor, incount: Value<i64>, datatype: handles::In<Datatype>, outbuf: Choice as descriptor, outsize: Value<i64>, position: Place<i64>) (datarep_len: datarep) on none() { data(inbuf, incount, datatype); bytes_into(outbuf, outsize); }
}
procedure! {
    MPI_Pack_external_size mpi_pack_external_size_ (datarep: text::In[datarep_len], incount: Value<c_int>, datatype: handles::In<Datatype>, size: Place<isize>) (datarep_len)
}
procedure! {
    MPI_Pack_external_size_c mpi_pack_external_size_c_ (datarep: text::In[datarep_len], incount: Value<i64>, datatype: handles::In<Datatype>, size: Place<i64>) (datarep_len)
}
procedure! {
    MPI_Pack_size mpi_pack_size_ (incount: Value<c_int>, datatype: handles::In<Datatype>, comm: handles::In<Comm>, size: Place<c_int>)
}
procedure! {
    MPI_Pack_size_c mpi_pack_size_c_ (incount: Value<i64>, datatype: handles::In<Datatype>, comm: handles::In<Comm>, size: Place<i64>)
}
procedure! {
    MPI_Type_commit mpi_type_commit_ (datatype: handles::InOut<Datatype>)
}
procedure! {
    MPI_Type_contiguous mpi_type_contiguous_ (count: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_contiguous_c mpi_type_contiguous_c_ (count: Value<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_darray mpi_type_create_darray_ (size: Value<c_int>, rank: Value<c_int>, ndims: Value<c_int>, array_of_gsizes: Place<c_int>, array_of_distribs: Place<c_int>, array_of_dargs: Place<c_int>, array_of_psizes: Place<c_int>, order: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_darray_c mpi_type_create_darray_c_ (size: Value<c_int>, rank: Value<c_int>, ndims: Value<c_int>, array_of_gsizes: Place<i64>, array_of_distribs: Place<c_int>, array_of_dargs: Place<c_int>, array_of_psizes: Place<c_int>, order: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_f90_complex mpi_type_create_f90_complex_ (p: Value<c_int>, r: Value<c_int>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_f90_integer mpi_type_create_f90_integer_ (r: Value<c_int>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_f90_real mpi_type_create_f90_real_ (p: Value<c_int>, r: Value<c_int>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hindexed mpi_type_create_hindexed_ (count: Value<c_int>, array_of_blocklengths: Place<c_int>, array_of_displacements: Place<isize>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hindexed_c mpi_type_create_hindexed_c_ (count: Value<i64>, array_of_blocklengths: Place<i64>, array_of_displacements: Place<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hindexed_block mpi_type_create_hindexed_block_ (count: Value<c_int>, blocklength: Value<c_int>, array_of_displacements: Place<isize>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hindexed_block_c mpi_type_create_hindexed_block_c_ (count: Value<i64>, blocklength: Value<i64>, array_of_displacements: Place<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hvector mpi_type_create_hvector_ (count: Value<c_int>, blocklength: Value<c_int>, stride: Value<isize>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_hvector_c mpi_type_create_hvector_c_ (count: Value<i64>, blocklength: Value<i64>, stride: Value<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_indexed_block mpi_type_create_indexed_block_ (count: Value<c_int>, blocklength: Value<c_int>, array_of_displacements: Place<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_indexed_block_c mpi_type_create_indexed_block_c_ (count: Value<i64>, blocklength: Value<i64>, array_of_displacements: Place<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_resized mpi_type_create_resized_ (oldtype: handles::In<Datatype>, lb: Value<isize>, extent: Value<isize>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_resized_c mpi_type_create_resized_c_ (oldtype: handles::In<Datatype>, lb: Value<i64>, extent: Value<i64>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_struct mpi_type_create_struct_ (count: Value<c_int>, array_of_blocklengths: Place<c_int>, array_of_displacements: Place<isize>, array_of_types: handles::Array<Datatype>[len(count)], newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_struct_c mpi_type_create_struct_c_ (count: Value<i64>, array_of_blocklengths: Place<i64>, array_of_displacements: Place<i64>, array_of_types: handles::Array<Datatype>[len(count)], newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_subarray mpi_type_create_subarray_ (ndims: Value<c_int>, array_of_sizes: Place<c_int>, array_of_subsizes: Place<c_int>, array_of_starts: Place<c_int>, order: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_create_subarray_c mpi_type_create_subarray_c_ (ndims: Value<c_int>, array_of_sizes: Place<i64>, array_of_subsizes: Place<i64>, array_of_starts: Place<i64>, order: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_dup mpi_type_dup_ (oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_free mpi_type_free_ (datatype: handles::InOut<Datatype>)
}
procedure! {
    MPI_Type_get_contents mpi_type_get_contents_ (datatype: handles::In<Datatype>, max_integers: Value<c_int>, max_addresses: Value<c_int>, max_datatypes: Value<c_int>, array_of_integers: Place<c_int>, array_of_addresses: Place<isize>, array_of_datatypes: handles::ArrayOut<Datatype>[len(max_datatypes)])
}
procedure! {
    MPI_Type_get_contents_c mpi_type_get_contents_c_ (datatype: handles::In<Datatype>, max_integers: Value<i64>, max_addresses: Value<i64>, max_large_counts: Value<i64>, max_datatypes: Value<i64>, array_of_integers: Place<c_int>, array_of_addresses: Place<isize>, array_of_large_counts: Place<i64>, array_of_datatypes: handles::ArrayOut<Datatype>[len(max_datatypes)])
}
procedure! {
    MPI_Type_get_envelope mpi_type_get_envelope_ (datatype: handles::In<Datatype>, num_integers: Place<c_int>, num_addresses: Place<c_int>, num_datatypes: Place<c_int>, combiner: Place<c_int>)
}
procedure! {
    MPI_Type_get_envelope_c mpi_type_get_envelope_c_ (datatype: handles::In<Datatype>, num_integers: Place<i64>, num_addresses: Place<i64>, num_large_counts: Place<i64>, num_datatypes: Place<i64>, combiner: Place<c_int>)
}
procedure! {
    MPI_Type_get_extent mpi_type_get_extent_ (datatype: handles::In<Datatype>, lb: Place<isize>, extent: Place<isize>)
}
procedure! {
    MPI_Type_get_extent_c mpi_type_get_extent_c_ (datatype: handles::In<Datatype>, lb: Place<i64>, extent: Place<i64>)
}
procedure! {
    MPI_Type_get_extent_x mpi_type_get_extent_x_ (datatype: handles::In<Datatype>, lb: Place<i64>, extent: Place<i64>)
}
procedure! {
    MPI_Type_get_name mpi_type_get_name_ (datatype: handles::In<Datatype>, type_name: text::Out<MPI_MAX_OBJECT_NAME>[type_name_len], resultlen: Place<c_int>) (type_name_len)
}
procedure! {
    MPI_Type_get_true_extent mpi_type_get_true_extent_ (datatype: handles::In<Datatype>, true_lb: Place<isize>, true_extent: Place<isize>)
}
procedure! {
    MPI_Type_get_true_extent_c mpi_type_get_true_extent_c_ (datatype: handles::In<Datatype>, true_lb: Place<i64>, true_extent: Place<i64>)
}
procedure! {
    MPI_Type_get_true_extent_x mpi_type_get_true_extent_x_ (datatype: handles::In<Datatype>, true_lb: Place<i64>, true_extent: Place<i64>)
}
procedure! {
    MPI_Type_get_value_index mpi_type_get_value_index_ (value_type: handles::In<Datatype>, index_type: handles::In<Datatype>, pair_type: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_indexed mpi_type_indexed_ (count: Value<c_int>, array_of_blocklengths: Place<c_int>, array_of_displacements: Place<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_indexed_c mpi_type_indexed_c_ (count: Value<i64>, array_of_blocklengths: Place<i64>, array_of_displacements: Place<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_match_size mpi_type_match_size_ (typeclass: Value<c_int>, size: Value<c_int>, datatype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_set_name mpi_type_set_name_ (datatype: handles::In<Datatype>, type_name: text::In[type_name_len]) (type_name_len)
}
procedure! {
    MPI_Type_size mpi_type_size_ (datatype: handles::In<Datatype>, size: Place<c_int>)
}
procedure! {
    MPI_Type_size_c mpi_type_size_c_ (datatype: handles::In<Datatype>, size: Place<i64>)
}
procedure! {
    MPI_Type_size_x mpi_type_size_x_ (datatype: handles::In<Datatype>, size: Place<i64>)
}
procedure! {
    MPI_Type_vector mpi_type_vector_ (count: Value<c_int>, blocklength: Value<c_int>, stride: Value<c_int>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Type_vector_c mpi_type_vector_c_ (count: Value<i64>, blocklength: Value<i64>, stride: Value<i64>, oldtype: handles::In<Datatype>, newtype: handles::Out<Datatype>)
}
procedure! {
    MPI_Unpack mpi_unpack_ (inbuf: Choice as descriptor, insize: Value<c_int>, position: Place<c_int>, outbuf: Choice as descriptor, outcount: Value<c_int>, datatype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { bytes_from(inbuf, insize); data(outbuf, outcount, datatype); }
}
procedure! {
    MPI_Unpack_c mpi_unpack_c_ (inbuf: Choice as descriptor, insize: Value<i64>, position: Place<i64>, outbuf: Choice as descriptor, outcount: Value<i64>, datatype: handles::In<Datatype>, comm: handles::In<Comm>) on comm(comm) { bytes_from(inbuf, insize); data(outbuf, outcount, datatype); }
}
procedure! {
    MPI_Unpack_external mpi_unpack_external_ (datarep: text::In[datarep_len] as descriptor, inbuf: Choice as descriptor, insize: Value<isize>, position: Place<isize>, outbuf: Choice as descriptor, outcount: Value<c_int>, datatype: handles::In<Datatype>) (datarep_len: datarep) on none() { bytes_from(inbuf, insize); data(outbuf, outcount, datatype); }
}
procedure! {
    MPI_Unpack_external_c mpi_unpack_external_c_ (datarep: text::In[datarep_len] as descriptor, inbuf: Choice as descriptor, insize: Value<i64>, position: Place<i64>, outbuf: Choice as descriptor, outcount: Value<i64>, datatype: handles::In<Datatype>) (datarep_len: datarep) on none() { bytes_from(inbuf, insize); data(outbuf, outcount, datatype); }
}
